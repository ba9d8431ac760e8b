"""`mcp` as text."""

from __future__ import annotations

from fairtrial.app.reports.mcp import McpReport
from fairtrial.cli.render.words import counted


def ended_lines(report: McpReport) -> str:
    """Return what an MCP server did."""
    refused = f", {report.refused:,} of them refused" if report.refused else ""
    return f"{counted(report.calls, 'call')} answered{refused}\n"
