"""The records of Codex, as far as they are read.

Three forms: bare items without envelopes (before 0.36), enveloped items and events, and, since
0.148, events that complete items. All of them keep the model's own items.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from fairtrial.sessions.amounts import Place
from fairtrial.sessions.tolerant import Records


class Item(msgspec.Struct):
    """Something that Codex itself did or saw, in an `item_completed` event."""

    type: str = ""
    id: str | None = None
    content: Any = None
    summary_text: Any = None
    command: Any = None
    exit_code: int | None = None
    status: str | None = None
    aggregated_output: str | None = None
    duration: Any = None
    changes: Any = None
    stdout: str | None = None
    stderr: str | None = None
    tool: str | None = None
    server: str | None = None
    arguments: Any = None
    result: Any = None
    error: Any = None


class Payload(msgspec.Struct):
    """What a record holds: the model's item, an event, or facts of the session."""

    type: str | None = None
    id: str | None = None
    role: str | None = None
    content: Any = None
    summary: Any = None
    name: str | None = None
    namespace: str | None = None
    arguments: Any = None
    input: Any = None
    action: Any = None
    status: str | None = None
    call_id: str | None = None
    output: Any = None
    message: Any = None
    text: str | None = None
    item: Item | None = None
    info: Any = None
    usage: Any = None
    response_id: str | None = None
    reason: str | None = None
    error: Any = None
    success: bool | None = None
    changes: Any = None
    stdout: str | None = None
    stderr: str | None = None
    exit_code: int | None = None
    aggregated_output: str | None = None
    turn_id: str | None = None
    started_at_ms: Place | None = None
    recipient: str | None = None
    # Of the session.
    cwd: str | None = None
    originator: str | None = None
    cli_version: str | None = None
    source: Any = None
    git: Any = None
    model: str | None = None
    forked_from_id: str | None = None
    parent_thread_id: str | None = None
    subagent_history_start_ordinal: Place | None = None


class Record(msgspec.Struct):
    """A line with an envelope."""

    type: str = ""
    timestamp: Any = None
    ordinal: Place | None = None
    payload: Payload | None = None
    record_type: str | None = None
    # The first line of the oldest form is bare.
    id: str | None = None
    git: Any = None


RECORDS: Final = Records(Record)
BARE: Final = Records(Payload)

RESPONSE_ITEMS: Final = frozenset(
    {
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
        "web_search_call",
        "agent_message",
    }
)
SILENT_ITEMS: Final = frozenset(
    {
        "additional_tools",
        "compaction",
        "compaction_summary",
        "context_compaction",
        "ghost_snapshot",
        "image_generation_call",
        "tool_search_call",
        "tool_search_output",
    }
)
SILENT_RECORDS: Final = frozenset({"world_state", "inter_agent_communication_metadata"})
EVENTS: Final = frozenset(
    {
        "user_message",
        "agent_message",
        "agent_reasoning",
        "item_completed",
        "token_count",
        "task_complete",
        "turn_complete",
        "turn_aborted",
        "error",
        "stream_error",
        "exec_command_end",
        "patch_apply_end",
        "task_started",
        "turn_started",
    }
)
SILENT_EVENTS: Final = frozenset(
    {
        "agent_reasoning_raw_content",
        "agent_reasoning_section_break",
        "collab_agent_spawn_begin",
        "collab_agent_spawn_end",
        "collab_close_begin",
        "collab_close_end",
        "collab_waiting_begin",
        "collab_waiting_end",
        "context_compacted",
        "entered_review_mode",
        "exec_command_begin",
        "exited_review_mode",
        "image_generation_end",
        "mcp_tool_call_begin",
        "mcp_tool_call_end",
        "patch_apply_begin",
        "thread_goal_updated",
        "thread_name_updated",
        "thread_rolled_back",
        "thread_settings_applied",
        "undo_completed",
        "view_image_tool_call",
        "warning",
        "web_search_begin",
        "web_search_end",
    }
)
ITEMS: Final = frozenset(
    {
        "UserMessage",
        "AgentMessage",
        "Reasoning",
        "CommandExecution",
        "FileChange",
        "McpToolCall",
    }
)
SILENT_PARTS: Final = frozenset(
    {
        "CollabAgentToolCall",
        "ContextCompaction",
        "HookPrompt",
        "ImageGeneration",
        "ImageView",
        "Plan",
        "SubAgentActivity",
        "TodoList",
        "WebSearch",
    }
)
SKIP: Final = re.compile(
    rb'\{"timestamp":"[^"]{0,40}",(?:"ordinal":\d{1,12},)?"type":"'
    rb"(?:world_state|inter_agent_communication_metadata|ghost_snapshot|"
    rb'event_msg","payload":\{"type":"(?:exec_command_output_delta|thread_settings_applied|'
    rb"agent_message_delta|agent_reasoning_delta|mcp_startup_update)|"
    rb'response_item","payload":\{"type":"additional_tools)"'
)
"""Matches the start of a line that need not be decoded."""
