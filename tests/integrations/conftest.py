"""No framework reports to its makers while it is tested."""

import os

from tests.search.postgres.conftest import server as server
from tests.search.postgres.conftest import url as url

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # both are read when they are imported
os.environ["ANONYMIZED_TELEMETRY"] = "False"
