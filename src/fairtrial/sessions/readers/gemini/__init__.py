"""Chats of Gemini CLI."""
