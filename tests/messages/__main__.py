"""`python -m tests.messages` renews the Korean messages: new ones are empty, old ones go.

With --check, the file stays as it is, and the exit code is 1 if it is not up to date.
"""

import sys

from tests.messages.po_catalogue import PO_FILE, all_messages, renewed, stored_entries

stored = PO_FILE.read_text("utf-8")
new = renewed(all_messages(), stored)
if "--check" in sys.argv:
    sys.exit(int(new != stored))
PO_FILE.write_text(new, "utf-8")
entries = stored_entries()
empty = [entry.msgid for entry in entries if not entry.msgstr]
sys.stdout.write(f"{PO_FILE.name}: {len(entries)} messages, {len(empty)} without Korean\n")
sys.stdout.writelines(f"  {msgid}\n" for msgid in empty)
