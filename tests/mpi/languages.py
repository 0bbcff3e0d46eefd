"""Calls of MPI from Python, each with a line of its own in FOLDER/rank.log: what a recording must have."""
import array
import pathlib
import sys

from mpi4py import MPI

world = MPI.COMM_WORLD
me, ranks = world.rank, world.size
right, left = (me + 1) % ranks, (me - 1) % ranks
with open(pathlib.Path(sys.argv[1]) / f"{me}.log", "w", encoding="utf-8") as log:
    def says(*words):
        print(*words, file=log)

    says(f"MPI_Init_thread rank={me} size={ranks}")
    out, into = array.array("d", [me] * 10), array.array("d", [0] * 10)
    for tag in 1, 2, 3:
        status = MPI.Status()
        world.Sendrecv(out, right, tag, into, MPI.ANY_SOURCE, tag, status)
        assert status.source == left and into[0] == left
        says(f"MPI_Sendrecv to={right} from={left} bytes=80 received=80")
    requests = [world.Irecv(into, left, 9), world.Isend(out, right, 9)]
    says(f"MPI_Irecv from={left}")
    says(f"MPI_Isend to={right} bytes=80")
    MPI.Request.Waitall(requests)
    says(f"MPI_Waitall from={left} bytes=80")
    world.Allreduce(out, into, MPI.SUM)
    assert into[0] == ranks * (ranks - 1) / 2
    says("MPI_Allreduce bytes=80 comm=MPI_COMM_WORLD")
    half = world.Split(me % 2, me)
    says(f"MPI_Comm_split size={(ranks + 1 - me % 2) // 2}")
    half.Bcast(out, 0)
    says(f"MPI_Bcast root={me % 2}")
    half.Free()
    says("MPI_Comm_free")
    world.Barrier()
    says("MPI_Barrier")
    says("MPI_Finalize")
