/*
 * key.h - the words that the analysis looks for, as numbers.
 *
 * Every string table of this room begins with them in this order, so that a key is a constant:
 * its number never has to be looked up.
 */
#ifndef UT_ACELYZER_KEY_H
#define UT_ACELYZER_KEY_H

/* constant, text */
#define UT_ACE_KEY_LIST(X)                                                                         \
	X(TS1, "TS1")                                                                              \
	X(TS2, "TS2")                                                                              \
	X(TS3, "TS3")                                                                              \
	X(TS4, "TS4")                                                                              \
	X(TS5, "TS5")                                                                              \
	X(POWER, "Power")                                                                          \
	X(BYTES, "Bytes")                                                                          \
	X(BYTES_LOW, "bytes")                                                                      \
	X(COLL_GROUP, "CollGroup")                                                                 \
	X(PEER, "Peer")                                                                            \
	X(PEERS, "Peers")                                                                          \
	X(TYPE, "Type")                                                                            \
	X(EXTERNAL_ID, "External id")                                                              \
	X(PYTHON_ID, "Python id")                                                                  \
	X(CORRELATION, "correlation")                                                              \
	X(FN_IDX, "fn_idx")                                                                        \
	X(DEVICE, "device")                                                                        \
	X(RANK, "rank")                                                                            \
	X(LABELS, "labels")                                                                        \
	X(SORT_INDEX, "sort_index")                                                                \
	X(NAME, "name")                                                                            \
	X(BANDWIDTH, "memory bandwidth (GB/s)")                                                    \
	X(OPID, "opid")                                                                            \
	X(OTID, "otid")                                                                            \
	X(REQ_ID, "reqID")                                                                         \
	X(ORIG_TS, "orig_ts")                                                                      \
	X(ORIG_DUR, "orig_dur")                                                                    \
	X(ORIG_NAME, "orig_name")                                                                  \
	X(USER_CAT, "user_cat")                                                                    \
	X(PT_ACTIVE, "pt_active")                                                                  \
	X(EXTERNAL_ID_LOW, "external id")                                                          \
	X(COLL_SIZE, "Coll_data_size")                                                             \
	X(COLL_TYPE, "collective algorithm type")                                                  \
	X(COLL_PEERS, "peers")                                                                     \
	X(COLL_COMPUTE, "rank group compute event")                                                \
	X(WATTS, "Watts")                                                                          \
	X(PERCENT, "Percent")                                                                      \
	X(CONCURRENCY, "Concurrency")                                                              \
	X(GBPS, "GBps")                                                                            \
	X(UNIT_GBPS, "Unit GBps")                                                                  \
	X(GB_S, "GB/s")                                                                            \
	X(ID, "id")                                                                                \
	X(BP, "bp")                                                                                \
	X(S, "s")                                                                                  \
	X(COMMENT, "comment")                                                                      \
	X(C_PREPS, "ConcurrentPreps")                                                              \
	X(CAT_PREPS, "Pending Prep Events")                                                        \
	X(C_PT, "PT Active")                                                                       \
	X(C_BW, "BW")                                                                              \
	X(C_BW_IN, "BW DmaI")                                                                      \
	X(C_BW_OUT, "BW DmaO")                                                                     \
	X(C_BW_OTHER, "BW Other")                                                                  \
	X(C_BW_REDUCE, "BW allreduce")                                                             \
	X(C_BW_PCIE, "BW all-pcie")                                                                \
	X(C_COLL_BW, "Coll_Bandwidth")                                                             \
	X(C_TRANSFER, "TransferBW")                                                                \
	X(CAT_POWER3, "Power3")                                                                    \
	X(CAT_POWER4, "Power4")                                                                    \
	X(CAT_KERNEL, "kernel")                                                                    \
	X(CAT_MEMCPY, "gpu_memcpy")                                                                \
	X(CAT_ANNOTATION, "user_annotation")                                                       \
	X(CAT_CPU_OP, "cpu_op")                                                                    \
	X(GLOO, "gloo:all_reduce")                                                                 \
	X(PROCESS_NAME, "process_name")                                                            \
	X(PROCESS_LABEL, "process_label")                                                          \
	X(PROCESS_SORT_INDEX, "process_sort_index")                                                \
	X(COLLECTIVE_BW, "CollectiveBW")                                                           \
	X(LABEL_AIU, "AIU")                                                                        \
	X(LABEL_CPU, "cpu")                                                                        \
	X(E, "e")

enum ut_ace_key {
	UT_ACE_NO_KEY,
#define UT_ACE_KEY_ENUM(key, text) UT_ACE_K_##key,
	UT_ACE_KEY_LIST(UT_ACE_KEY_ENUM)
#undef UT_ACE_KEY_ENUM
	UT_ACE_KEYS
};

#endif
