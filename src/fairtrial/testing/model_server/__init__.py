"""A scripted model server on the loopback interface that speaks the real wire formats.

```python
with ModelServer([ScriptedAnswer("Hello!")]) as server:
    client = anthropic.Anthropic(base_url=server.url, api_key="any")
    ...
    assert server.requests[0].body["model"] == "scripted-1"
```

Anthropic clients take `server.url`, OpenAI clients `server.v1_url`.
"""

from __future__ import annotations

from fairtrial.testing.model_server.script import Fault, Script, ScriptedAnswer, ScriptedRequest
from fairtrial.testing.model_server.server import ModelServer

__all__ = ["Fault", "ModelServer", "Script", "ScriptedAnswer", "ScriptedRequest"]
