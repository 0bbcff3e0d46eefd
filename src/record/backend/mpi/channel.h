/*
 * channel.h - counts the messages of a channel: those with one communicator, one peer, one tag and
 * one direction. MPI keeps their order, so both ends give the same number to the same message.
 *
 * Any thread; no lock, no malloc. Room for a million channels, taken as they come up; beyond that
 * a channel has no numbers.
 */
#ifndef UT_BACKEND_MPI_CHANNEL_H
#define UT_BACKEND_MPI_CHANNEL_H

#include <stdint.h>

#define UT_MPI_NO_NUMBER UINT64_MAX

/* Spreads 128 bits over 64; never 0. The same everywhere: ids are made of it. */
uint64_t ut_mpi_mix(uint64_t a, uint64_t b);

/* A key of all these; comm is a number that this process gave to the communicator. */
uint64_t ut_mpi_channel(uint64_t comm, int32_t peer, int32_t tag, unsigned int what);

/* What a key counts, besides the comm, peer and tag in it. */
enum ut_mpi_count {
	UT_MPI_COUNT_SENT,
	UT_MPI_COUNT_RECEIVED,
	UT_MPI_COUNT_PART_SENT, /* partitioned: matched apart from other messages */
	UT_MPI_COUNT_PART_RECEIVED,
	UT_MPI_COUNT_MADE, /* communicators of one kind */
};

/* The next number, from 0 on, or UT_MPI_NO_NUMBER. */
uint64_t ut_mpi_channel_next(uint64_t key);

/* The next number, without taking it. */
uint64_t ut_mpi_channel_peek(uint64_t key);

/* Takes the last number back: the receive that had it was cancelled. */
void ut_mpi_channel_back(uint64_t key);

/* How many channels had no room. */
uint64_t ut_mpi_channel_lost(void);

#endif
