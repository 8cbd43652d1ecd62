"""The demonstration model: a test fixture that makes the main job run anywhere."""
