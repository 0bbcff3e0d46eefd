/*
 * mpi_words.h - lists of n parameters for wrappers: each is one word, called p0, p1, ... as it
 * came, and a[0], a[1], ... as it goes on.
 */
#ifndef UT_BACKEND_MPI_MPI_WORDS_H
#define UT_BACKEND_MPI_MPI_WORDS_H

#define UT_MPI_TYPES_1  ut_mpi_word
#define UT_MPI_TYPES_2  UT_MPI_TYPES_1, ut_mpi_word
#define UT_MPI_TYPES_3  UT_MPI_TYPES_2, ut_mpi_word
#define UT_MPI_TYPES_4  UT_MPI_TYPES_3, ut_mpi_word
#define UT_MPI_TYPES_5  UT_MPI_TYPES_4, ut_mpi_word
#define UT_MPI_TYPES_6  UT_MPI_TYPES_5, ut_mpi_word
#define UT_MPI_TYPES_7  UT_MPI_TYPES_6, ut_mpi_word
#define UT_MPI_TYPES_8  UT_MPI_TYPES_7, ut_mpi_word
#define UT_MPI_TYPES_9  UT_MPI_TYPES_8, ut_mpi_word
#define UT_MPI_TYPES_10 UT_MPI_TYPES_9, ut_mpi_word
#define UT_MPI_TYPES_11 UT_MPI_TYPES_10, ut_mpi_word
#define UT_MPI_TYPES_12 UT_MPI_TYPES_11, ut_mpi_word
#define UT_MPI_TYPES_13 UT_MPI_TYPES_12, ut_mpi_word

#define UT_MPI_PARAMETERS_1  ut_mpi_word p0
#define UT_MPI_PARAMETERS_2  UT_MPI_PARAMETERS_1, ut_mpi_word p1
#define UT_MPI_PARAMETERS_3  UT_MPI_PARAMETERS_2, ut_mpi_word p2
#define UT_MPI_PARAMETERS_4  UT_MPI_PARAMETERS_3, ut_mpi_word p3
#define UT_MPI_PARAMETERS_5  UT_MPI_PARAMETERS_4, ut_mpi_word p4
#define UT_MPI_PARAMETERS_6  UT_MPI_PARAMETERS_5, ut_mpi_word p5
#define UT_MPI_PARAMETERS_7  UT_MPI_PARAMETERS_6, ut_mpi_word p6
#define UT_MPI_PARAMETERS_8  UT_MPI_PARAMETERS_7, ut_mpi_word p7
#define UT_MPI_PARAMETERS_9  UT_MPI_PARAMETERS_8, ut_mpi_word p8
#define UT_MPI_PARAMETERS_10 UT_MPI_PARAMETERS_9, ut_mpi_word p9
#define UT_MPI_PARAMETERS_11 UT_MPI_PARAMETERS_10, ut_mpi_word p10
#define UT_MPI_PARAMETERS_12 UT_MPI_PARAMETERS_11, ut_mpi_word p11
#define UT_MPI_PARAMETERS_13 UT_MPI_PARAMETERS_12, ut_mpi_word p12

#define UT_MPI_LIST_1  p0
#define UT_MPI_LIST_2  UT_MPI_LIST_1, p1
#define UT_MPI_LIST_3  UT_MPI_LIST_2, p2
#define UT_MPI_LIST_4  UT_MPI_LIST_3, p3
#define UT_MPI_LIST_5  UT_MPI_LIST_4, p4
#define UT_MPI_LIST_6  UT_MPI_LIST_5, p5
#define UT_MPI_LIST_7  UT_MPI_LIST_6, p6
#define UT_MPI_LIST_8  UT_MPI_LIST_7, p7
#define UT_MPI_LIST_9  UT_MPI_LIST_8, p8
#define UT_MPI_LIST_10 UT_MPI_LIST_9, p9
#define UT_MPI_LIST_11 UT_MPI_LIST_10, p10
#define UT_MPI_LIST_12 UT_MPI_LIST_11, p11
#define UT_MPI_LIST_13 UT_MPI_LIST_12, p12

#define UT_MPI_ARGUMENTS_1  a[0]
#define UT_MPI_ARGUMENTS_2  UT_MPI_ARGUMENTS_1, a[1]
#define UT_MPI_ARGUMENTS_3  UT_MPI_ARGUMENTS_2, a[2]
#define UT_MPI_ARGUMENTS_4  UT_MPI_ARGUMENTS_3, a[3]
#define UT_MPI_ARGUMENTS_5  UT_MPI_ARGUMENTS_4, a[4]
#define UT_MPI_ARGUMENTS_6  UT_MPI_ARGUMENTS_5, a[5]
#define UT_MPI_ARGUMENTS_7  UT_MPI_ARGUMENTS_6, a[6]
#define UT_MPI_ARGUMENTS_8  UT_MPI_ARGUMENTS_7, a[7]
#define UT_MPI_ARGUMENTS_9  UT_MPI_ARGUMENTS_8, a[8]
#define UT_MPI_ARGUMENTS_10 UT_MPI_ARGUMENTS_9, a[9]
#define UT_MPI_ARGUMENTS_11 UT_MPI_ARGUMENTS_10, a[10]
#define UT_MPI_ARGUMENTS_12 UT_MPI_ARGUMENTS_11, a[11]
#define UT_MPI_ARGUMENTS_13 UT_MPI_ARGUMENTS_12, a[12]

/* A parameter or two more, as a number that names one of the lists. */
#define UT_MPI_PLUS_1(n) UT_MPI_PLUS_1_##n
#define UT_MPI_PLUS_1_1  2
#define UT_MPI_PLUS_1_2  3
#define UT_MPI_PLUS_1_3  4
#define UT_MPI_PLUS_1_4  5
#define UT_MPI_PLUS_1_5  6
#define UT_MPI_PLUS_1_6  7
#define UT_MPI_PLUS_1_7  8
#define UT_MPI_PLUS_1_8  9
#define UT_MPI_PLUS_1_9  10
#define UT_MPI_PLUS_1_10 11
#define UT_MPI_PLUS_1_11 12
#define UT_MPI_PLUS_2(n) UT_MPI_PLUS_2_##n
#define UT_MPI_PLUS_2_1  3
#define UT_MPI_PLUS_2_2  4
#define UT_MPI_PLUS_2_3  5
#define UT_MPI_PLUS_2_4  6
#define UT_MPI_PLUS_2_5  7
#define UT_MPI_PLUS_2_6  8
#define UT_MPI_PLUS_2_7  9
#define UT_MPI_PLUS_2_8  10
#define UT_MPI_PLUS_2_9  11
#define UT_MPI_PLUS_2_10 12
#define UT_MPI_PLUS_2_11 13

#endif
