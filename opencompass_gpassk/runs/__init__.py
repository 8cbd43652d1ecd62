"""OpenCompass's files on disk: predictions, states of tasks, configs."""
