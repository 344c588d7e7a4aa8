"""No framework reports to its makers while it is tested."""

import os

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # both are read when they are imported
os.environ["ANONYMIZED_TELEMETRY"] = "False"
