"""A small service that converts lengths to centimetres."""

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CENTIMETRES = {"in": 2.54, "ft": 30.48, "m": 100.0}


class Converter(BaseHTTPRequestHandler):
    """Answers `{"length": {"value": 1, "unit": "in"}}` with `{"result": {"cm": 2.54}}`."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["length"]
        factor = CENTIMETRES.get(length["unit"])
        if factor is None:
            self._answer(422, {"error": f"unknown unit {length['unit']}"})
        else:
            self._answer(200, {"result": {"cm": round(length["value"] * factor, 6)}})

    def _answer(self, status: int, content: dict[str, object]) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def main() -> None:
    """Serve until the process is ended."""
    port = int(os.environ["PORT"])
    server = ThreadingHTTPServer(("127.0.0.1", port), Converter)
    print(f"listening on port {port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
