/*
 * nvtx_payload.c - marks with NVTX's own headers, by its extension for payloads: as NCCL does, with
 * a range that is pushed plainly and popped with what is known at its end, and in other ways.
 */
#include <stdio.h>
#include <string.h>

#include <nvtx3/nvToolsExtPayload.h>

struct sent {
	uint64_t bytes;
	int32_t root;
	uint8_t op;
	float ratio;
	char unit[8];
	const char *why;
};

#define ENTRY(type, name)                                                                          \
	{                                                                                          \
		0, NVTX_PAYLOAD_ENTRY_TYPE_##type, name, NULL, 0, 0, NULL, NULL                    \
	}

static uint64_t add_enum(nvtxDomainHandle_t domain)
{
	static const nvtxPayloadEnum_t values[] = { { "sum", 0, 0 }, { "max", 1, 0 } };
	nvtxPayloadEnumAttr_t attr = {
		.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
			     NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
			     NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE |
			     NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID,
		.entries = values,
		.numEntries = 2,
		.sizeOfEnum = 1,
		.schemaId = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 7,
	};

	return nvtxPayloadEnumRegister(domain, &attr);
}

static uint64_t add_schema(nvtxDomainHandle_t domain, const nvtxPayloadSchemaEntry_t *entries,
			   size_t count, size_t size, uint64_t id)
{
	nvtxPayloadSchemaAttr_t attr = {
		.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE |
			     (id ? NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID : 0),
		.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
		.entries = entries,
		.numEntries = count,
		.payloadStaticSize = size,
		.schemaId = id,
	};

	return nvtxPayloadSchemaRegister(domain, &attr);
}

/* Offsets are left to the collector, which has to put fields where C does. */
static uint64_t add_sent(nvtxDomainHandle_t domain, uint64_t op)
{
	nvtxPayloadSchemaEntry_t entries[] = {
		ENTRY(UINT64, "bytes"),
		ENTRY(INT32, "root"),
		{ 0, op, "op", NULL, 0, 0, NULL, NULL },
		ENTRY(FLOAT, "ratio"),
		{ NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_CHAR, "unit",
		  NULL, 8, 0, NULL, NULL },
		ENTRY(CSTRING, "why"),
	};

	return add_schema(domain, entries, sizeof(entries) / sizeof(*entries), sizeof(struct sent),
			  0);
}

static uint64_t add_named(nvtxDomainHandle_t domain)
{
	static const nvtxPayloadSchemaEntry_t entries[] = {
		{ NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "message",
		  NULL, 0, 0, NULL, NULL },
		ENTRY(DOUBLE, "seconds"),
	};

	return add_schema(domain, entries, 2, 16, NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 9);
}

static void as_nccl(nvtxDomainHandle_t domain, uint64_t schema)
{
	struct sent sent = { 4096, -1, 1, 0.5f, "GB/s", "because" };
	nvtxPayloadData_t data = { schema, sizeof(sent), &sent };
	nvtxEventAttributes_t a = { 0 };

	a.version = NVTX_VERSION;
	a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	a.messageType = NVTX_MESSAGE_TYPE_ASCII;
	a.message.ascii = "initialise";
	nvtxDomainRangePushEx(domain, &a);
	a.message.ascii = "reduce";
	a.payloadType = NVTX_PAYLOAD_TYPE_EXT;
	a.payload.ullValue = NVTX_POINTER_AS_PAYLOAD_ULLVALUE(&data);
	a.reserved0 = 1;
	nvtxDomainRangePushEx(domain, &a);
	nvtxDomainRangePop(domain);
	sent.op = 9;    /* no name */
	data.size = 12; /* the rest is not there */
	printf("popped %d\n", nvtxRangePopPayload(domain, &data, 1));
}

static void alone(nvtxDomainHandle_t domain, uint64_t schema)
{
	struct {
		const char *message;
		double seconds;
	} named = { "named by its payload", 1.5 };
	nvtxPayloadData_t data[] = { { schema, SIZE_MAX, &named }, { schema + 1000, 16, &named } };
	int32_t number = -3;
	nvtxPayloadData_t plain = { NVTX_PAYLOAD_ENTRY_TYPE_INT32, sizeof(number), &number };
	nvtxRangeId_t id;

	nvtxRangePushPayload(domain, data, 2);
	nvtxRangePopPayload(domain, &plain, 1);
	named.message = "long one";
	id = nvtxRangeStartPayload(domain, data, 1);
	nvtxRangeEndPayload(domain, id, &plain, 1);
	named.message = "a moment";
	nvtxMarkPayload(domain, data, 1);
	printf("nothing to pop %d\n", nvtxRangePopPayload(domain, &plain, 1));
}

int main(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("marks");
	uint64_t op = add_enum(domain), sent = add_sent(domain, op), named = add_named(domain);

	printf("schemas %d, enabled %d\n", op && sent && named, nvtxDomainIsEnabled(domain));
	as_nccl(domain, sent);
	alone(domain, named);
	return 0;
}
