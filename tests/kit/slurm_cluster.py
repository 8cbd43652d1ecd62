"""A real Slurm for tests: one controller and two nodes on this machine, in a folder of its own."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAMS = ('munged', 'slurmctld', 'slurmd', 'srun', 'scancel', 'squeue', 'sinfo')
CONF = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
SchedulerParameters=sched_interval=1
SlurmdParameters=config_overrides
KillWait=2
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={node1} CPUs=1
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={node2} CPUs=1
PartitionName=debug Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""


def why_not() -> str | None:
    """Return why Slurm can't be started here; None if it can."""
    if missing := [name for name in PROGRAMS if not shutil.which(name)]:
        return f'no Slurm (slurm-wlm, munge): {", ".join(missing)} missing'
    return None if getpass.getuser() == 'root' else 'Slurm for tests is started as root only'


@contextmanager
def slurm(folder: Path) -> Iterator[dict[str, str]]:
    """Run Slurm with partition ``debug`` of two nodes with one processor each.

    Yields:
        The environment variables by which Slurm's commands find it.
    """
    ports = _free_ports(3)
    conf = folder / 'slurm.conf'
    conf.write_text(
        CONF.format(
            host=socket.gethostname().partition('.')[0],
            folder=folder,
            controller=ports[0],
            node1=ports[1],
            node2=ports[2],
        )
    )
    for name in ('state', 'n1', 'n2'):
        (folder / name).mkdir()
    key = folder / 'munge.key'
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    environment = {'SLURM_CONF': str(conf)}
    files = {'key-file': key} | {
        f'{name}-file': folder / f'munge.{name}' for name in ('pid', 'log', 'seed')
    }
    socket_of = f'--socket={folder / "munge.socket"}'
    options = [f'--{name}={path}' for name, path in files.items()]
    daemons = [
        ['munged', '--foreground', '--force', socket_of, *options],
        ['slurmctld', '-D'],
        *(['slurmd', '-D', '-N', node] for node in ('n1', 'n2')),
    ]
    told = {**os.environ, **environment}
    running: list[subprocess.Popen[bytes]] = []
    try:
        for command in daemons:
            with (folder / 'daemons.out').open('ab') as output:
                running.append(subprocess.Popen(command, env=told, stdout=output, stderr=output))
            if command[0] == 'munged':
                _wait_for(lambda: (folder / 'munge.socket').exists(), folder)
        _wait_for(lambda: _idle(environment) == 2, folder)
        yield environment
        subprocess.run(['scancel', '--user=root'], env=told, timeout=20, check=False)
    finally:
        for process in reversed(running):
            process.terminate()
        for process in running:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def _idle(environment: dict[str, str]) -> int:
    told = subprocess.run(
        ['sinfo', '-hN', '-t', 'idle', '-o', '%N'],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return len(told.stdout.split())


def _wait_for(done: Callable[[], bool], folder: Path) -> None:
    end = time.monotonic() + 60
    while not done():
        if time.monotonic() > end:
            raise RuntimeError(f'Slurm did not start; see the logs in {folder}')
        time.sleep(0.1)


def _free_ports(number: int) -> list[int]:
    sockets = [socket.socket() for _ in range(number)]
    for one in sockets:
        one.bind(('127.0.0.1', 0))
    ports: list[int] = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports
