"""Old import path of :mod:`opencompass_gpassk.reasoneval.settings`."""

from opencompass_gpassk.reasoneval.settings import configured, configured_gpus

__all__ = ['configured', 'configured_gpus']
