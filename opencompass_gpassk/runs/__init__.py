"""What OpenCompass leaves on disk: predictions, states of tasks, configs."""
