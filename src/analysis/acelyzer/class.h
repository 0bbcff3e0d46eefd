/*
 * class.h - what an event is, in the words of release 1.2.
 */
#ifndef UT_ACELYZER_CLASS_H
#define UT_ACELYZER_CLASS_H

#define UT_ACE_CLASS_LIST(X)                                                                       \
	X(OTHER)                                                                                   \
	X(COMPUTE_PREP)                                                                            \
	X(COMPUTE_EXEC)                                                                            \
	X(DATA_IN)                                                                                 \
	X(DATA_OUT)                                                                                \
	X(SEN_DATA_CONVERT)                                                                        \
	X(MAIU_BARRIER)                                                                            \
	X(MAIU_WIREUP)                                                                             \
	X(ROUNDTRIP_FLEX)                                                                          \
	X(ROUNDTRIP_AIU)                                                                           \
	X(MAIU_PROTOCOL_SERIAL)                                                                    \
	X(MAIU_HDMA_PROTOCOL_WAIT_DATA)                                                            \
	X(MAIU_HDMA_PROTOCOL_WAIT_ACK)                                                             \
	X(MAIU_HDMA_PROTOCOL_SIGNAL_DATA)                                                          \
	X(MAIU_HDMA_PROTOCOL_SIGNAL_ACK)                                                           \
	X(MAIU_HDMA_PROTOCOL_MONITOR_NOTICE)                                                       \
	X(MAIU_HDMA_PROTOCOL_SEND_DATA)                                                            \
	X(MAIU_HDMA_PROTOCOL_RECV_DATA)                                                            \
	X(MAIU_P2PRDMA_PROTOCOL_SEND_DATA)                                                         \
	X(MAIU_P2PRDMA_PROTOCOL_RECV_DATA)                                                         \
	X(MAIU_PROTOCOL_SEND_DATA)                                                                 \
	X(MAIU_PROTOCOL_RECV_DATA)                                                                 \
	X(MAIU_PROTOCOL_SIGNAL_DATA)                                                               \
	X(MAIU_PROTOCOL_SIGNAL_ACK)

enum ut_ace_class {
#define UT_ACE_CLASS_ENUM(name) UT_ACE_CLASS_##name,
	UT_ACE_CLASS_LIST(UT_ACE_CLASS_ENUM)
#undef UT_ACE_CLASS_ENUM
	UT_ACE_CLASSES
};

const char *ut_ace_class_name(unsigned int cls);

#endif
