"""The command `dy2st opu`: one file a command."""
