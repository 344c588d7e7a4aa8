"""`python -m tests.messages` renews the Korean messages: new ones are empty, old ones go."""

from tests.messages.po_catalogue import PO_FILE, all_messages, renewed, stored_entries

PO_FILE.touch()
PO_FILE.write_text(renewed(all_messages(), PO_FILE.read_text("utf-8")), "utf-8")
entries = stored_entries()
empty = [entry.msgid for entry in entries if not entry.msgstr]
print(f"{PO_FILE.name}: {len(entries)} messages, {len(empty)} without Korean")
for msgid in empty:
    print(f"  {msgid}")
