"""The records of Claude Code, as far as they are read."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from fairtrial.sessions.tolerant import Records


class UsageCounts(msgspec.Struct):
    """Tokens of a model call, as the API tells them."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    output_tokens_details: Any = None


class Block(msgspec.Struct):
    """A block of a message's content."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: Any = None
    tool_use_id: str | None = None
    content: Any = None
    is_error: bool | None = None


class Message(msgspec.Struct):
    """A message of the model API."""

    id: str | None = None
    model: str | None = None
    content: str | list[Block] | None = None
    stop_reason: str | None = None
    usage: UsageCounts | None = None


class ToolUse(msgspec.Struct):
    """What the tool itself brought, beside what the model was shown of it."""

    type: str | None = None
    filePath: str | None = None  # noqa: N815  # fields have the names of the file
    content: Any = None
    file: Any = None
    originalFile: str | None = None  # noqa: N815
    structuredPatch: list[Any] | None = None  # noqa: N815
    oldString: str | None = None  # noqa: N815
    newString: str | None = None  # noqa: N815
    stdout: Any = None
    interrupted: bool | None = None
    backgroundTaskId: str | None = None  # noqa: N815
    returnCodeInterpretation: str | None = None  # noqa: N815
    durationMs: float | None = None  # noqa: N815
    totalDurationMs: float | None = None  # noqa: N815
    isAsync: bool | None = None  # noqa: N815


class Attachment(msgspec.Struct):
    """What the harness put into the conversation."""

    type: str = ""
    context: Any = None
    prompt: Any = None
    commandMode: str | None = None  # noqa: N815
    origin: Any = None


class Record(msgspec.Struct):
    """One line."""

    type: str = ""
    subtype: str | None = None
    uuid: str | None = None
    parentUuid: str | None = None  # noqa: N815
    isSidechain: bool = False  # noqa: N815
    agentId: str | None = None  # noqa: N815
    sessionId: str | None = None  # noqa: N815
    requestSessionId: str | None = None  # noqa: N815
    forkedFrom: Any = None  # noqa: N815
    timestamp: Any = None
    cwd: str | None = None
    gitBranch: str | None = None  # noqa: N815
    version: str | None = None
    entrypoint: str | None = None
    promptSource: str | None = None  # noqa: N815
    origin: Any = None
    turnOrigin: str | None = None  # noqa: N815
    isMeta: bool | None = None  # noqa: N815
    isCompactSummary: bool | None = None  # noqa: N815
    isVisibleInTranscriptOnly: bool | None = None  # noqa: N815
    isApiErrorMessage: bool | None = None  # noqa: N815
    apiErrorStatus: int | None = None  # noqa: N815
    toolDenialKind: str | None = None  # noqa: N815
    permissionDecision: Any = None  # noqa: N815
    message: Message | None = None
    toolUseResult: ToolUse | str | list[Any] | None = None  # noqa: N815
    attachment: Attachment | None = None
    trackingPath: str | None = None  # noqa: N815
    backup: Any = None
    compactMetadata: Any = None  # noqa: N815
    error: Any = None


RECORDS: Final = Records(Record)

READ: Final = frozenset(
    {"user", "assistant", "system", "attachment", "cost-state", "file-history-delta"}
)
SKIPPED: Final = frozenset(
    [
        "agent-color",
        "agent-name",
        "agent-setting",
        "ai-title",
        "api-request",
        "api-request-blob",
        "api-request-resumed",
        "api-request-shape",
        "artifact-source",
        "artifact-version",
        "atis-latch",
        "attribution-snapshot",
        "bridge-session",
        "content-replacement",
        "continued-in",
        "custom-title",
        "data-flow-label",
        "data-flow-state",
        "derived-from",
        "ended-by-model",
        "file-history-snapshot",
        "fork-context-ref",
        "frame-link",
        "history-suppression",
        "isolation-latch",
        "last-prompt",
        "memory-mode",
        "mode",
        "observer-ref",
        "permission-mode",
        "pr-link",
        "progress",
        "queue-operation",
        "relocated",
        "resume-head-vouch",
        "session-owner",
        "summary",
        "tag",
        "tools-used",
        "worktree-state",
    ]
)
"""Types that are known and tell nothing that a session is made of."""

_TYPES: Final = "|".join(sorted(SKIPPED)).encode()
_LED: Final = rb'\{(?:"parentUuid":(?:null|"[^"]{0,60}"),"isSidechain":(?:true|false),)?'
_ATTACHED: Final = rb"(?!session_context|max_turns_reached|queued_command)"
SKIP: Final = re.compile(
    _LED + rb'(?:"type":"(?:' + _TYPES + rb')"|"attachment":\{"type":"' + _ATTACHED + rb")"
)
"""Matches the start of a line that need not be decoded: most bytes of a transcript are such."""

KNOWN_FIELDS: Final = RECORDS.names | frozenset(
    [
        "apiBlockIndex",
        "apiErrorType",
        "attributionAgent",
        "attributionMcpServer",
        "attributionMcpTool",
        "attributionPlugin",
        "attributionSkill",
        "cause",
        "caller",
        "content",
        "effort",
        "errorDetails",
        "failedHookErrorIndexes",
        "failedResponseHadNoToolCall",
        "hasOutput",
        "hasUnknownModelCost",
        "hookAdditionalContext",
        "hookCount",
        "hookErrors",
        "hookInfos",
        "imagePasteIds",
        "isUpdate",
        "level",
        "leafUuid",
        "logicalParentUuid",
        "madeBy",
        "maxRetries",
        "mcpMeta",
        "messageCount",
        "messageId",
        "microcompactMetadata",
        "modelUsage",
        "parentToolUseID",
        "perTurnEffort",
        "permissionDecision",
        "permissionMode",
        "planContent",
        "preventedContinuation",
        "promptCacheRequested",
        "promptId",
        "queueSkipAttachments",
        "rendered",
        "renderedBesideToolResult",
        "renderedInHumanTurn",
        "renderedRole",
        "requestId",
        "requestRef",
        "requestedModel",
        "resendCannotCure",
        "retryAttempt",
        "retryInMs",
        "rowSource",
        "sandboxed",
        "sentAtMs",
        "session_id",
        "slug",
        "snapshotMessageId",
        "source",
        "sourceToolAssistantUUID",
        "sourceToolUseID",
        "startTime",
        "stopReason",
        "summarizeMetadata",
        "summarizedTurnPromptUuids",
        "teamName",
        "thinkingDisplay",
        "thinkingDurationMs",
        "thinkingMetadata",
        "todos",
        "toolInputStreamMs",
        "toolUseID",
        "totalAPIDuration",
        "totalAPIDurationWithoutRetries",
        "totalCostUSD",
        "totalDuration",
        "totalLinesAdded",
        "totalLinesRemoved",
        "totalToolDuration",
        "turnPosition",
        "url",
        "userType",
        "durationMs",
        "pendingBackgroundAgentCount",
        "pendingWorkflowCount",
    ]
)
