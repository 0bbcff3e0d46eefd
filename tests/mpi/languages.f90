! languages.f90 - calls of MPI from Fortran, each with a line of its own in FOLDER/rank.log: what a
! recording must have. Compiled twice: with the module mpi, and with -DF08 for mpi_f08.
program languages
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
#ifdef F08
  type(MPI_Request) :: requests(2)
  type(MPI_Comm) :: half
  type(MPI_Status) :: status
#define FROM status%MPI_SOURCE
#else
  integer :: requests(2), half, status(MPI_STATUS_SIZE)
#define FROM status(MPI_SOURCE)
#endif
  integer :: error, me, ranks, right, left, i
  double precision :: a(10), b(10), total(10)
  character(len=4096) :: folder
  character(len=8) :: number

  call MPI_INIT(error)
  call MPI_COMM_RANK(MPI_COMM_WORLD, me, error)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, error)
  call get_command_argument(1, folder)
  write (number, '(i0)') me
  open (10, file=trim(folder)//'/'//trim(number)//'.log')
  write (10, '(a,i0,a,i0)') 'MPI_Init rank=', me, ' size=', ranks
  right = mod(me + 1, ranks)
  left = mod(me + ranks - 1, ranks)
  a = me
  do i = 1, 3
    call MPI_SENDRECV(a, 10, MPI_DOUBLE_PRECISION, right, i, b, 10, MPI_DOUBLE_PRECISION, &
                      MPI_ANY_SOURCE, i, MPI_COMM_WORLD, status, error)
    if (FROM /= left .or. b(1) /= left) stop 3
    write (10, '(a,i0,a,i0,a)') 'MPI_Sendrecv to=', right, ' from=', left, ' bytes=80 received=80'
  end do
  call MPI_IRECV(b, 5, MPI_REAL, left, 9, MPI_COMM_WORLD, requests(1), error)
  write (10, '(a,i0)') 'MPI_Irecv from=', left
  call MPI_ISEND(a, 5, MPI_REAL, right, 9, MPI_COMM_WORLD, requests(2), error)
  write (10, '(a,i0,a)') 'MPI_Isend to=', right, ' bytes=20'
#ifdef F08
  call MPI_WAITALL(2, requests, MPI_STATUSES_IGNORE)
#else
  call MPI_WAITALL(2, requests, MPI_STATUSES_IGNORE, error)
#endif
  write (10, '(a,i0,a)') 'MPI_Waitall from=', left, ' bytes=20'
  call MPI_ALLREDUCE(a, total, 10, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  if (total(1) /= ranks*(ranks - 1)/2) stop 4
  write (10, '(a)') 'MPI_Allreduce bytes=80 comm=MPI_COMM_WORLD'
  call MPI_ALLREDUCE(MPI_IN_PLACE, total, 10, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, error)
  write (10, '(a)') 'MPI_Allreduce bytes=80 comm=MPI_COMM_WORLD'
  call MPI_GATHER(MPI_IN_PLACE, 2, MPI_REAL, b, 2, MPI_REAL, 0, MPI_COMM_SELF, error)
  write (10, '(a)') 'MPI_Gather received=8'
  call MPI_COMM_SPLIT(MPI_COMM_WORLD, mod(me, 2), me, half, error)
  write (10, '(a,i0)') 'MPI_Comm_split size=', (ranks + 1 - mod(me, 2))/2
  call MPI_BCAST(a, 10, MPI_DOUBLE_PRECISION, 0, half, error)
  write (10, '(a,i0)') 'MPI_Bcast root=', mod(me, 2)
  call MPI_COMM_FREE(half, error)
  write (10, '(a)') 'MPI_Comm_free'
  write (10, '(a)') 'MPI_Finalize'
  close (10)
  call MPI_FINALIZE(error)
end program
