/* itt_meta.c - arguments of tasks, threads and the whole trace. */
#define INTEL_NO_MACRO_BODY
#include <string.h>

#include "collect/format.h"
#include "collect/hook.h"
#include "wire/text.h"

#define MOST_VALUES 1024u
#define MOST_BYTES  15000u

/* Bytes of one value; 0 for a type that is none. */
static size_t value_size(__itt_metadata_type type)
{
	static const unsigned char sizes[] = { 0, 8, 8, 4, 4, 2, 2, 4, 8 };

	return (unsigned int)type < sizeof(sizes) ? sizes[type] : 0;
}

/* What an argument hangs on: an id, or a scope. */
struct target {
	const __itt_domain *domain;
	const __itt_id *id;
	uint32_t scope;
};

static void add_numbers(struct target to, const __itt_string_handle *key, __itt_metadata_type type,
			size_t count, const void *data)
{
	size_t size = value_size(type);
	uint32_t d;
	struct ut_tbuf *t = ut_hook_domain(to.domain, &d);
	uint64_t words[6];

	if (!t || !count || !data || !size)
		return;
	if (count > MOST_VALUES) {
		count = MOST_VALUES;
		ut_writer_count_cut();
	}
	words[0] = ut_pack(d, ut_string_id(key));
	ut_put_id(words + 1, 1, to.id);
	words[4] = ut_pack((uint32_t)type, to.scope);
	words[5] = count;
	ut_tbuf_record(t, UT_REC_META_NUM, words, 6, data, count * size);
}

void __itt_metadata_add(const __itt_domain *domain, __itt_id id, __itt_string_handle *key,
			__itt_metadata_type type, size_t count, void *data)
{
	add_numbers((struct target){ domain, &id, 0 }, key, type, count, data);
}

void __itt_metadata_add_with_scope(const __itt_domain *domain, __itt_scope scope,
				   __itt_string_handle *key, __itt_metadata_type type, size_t count,
				   void *data)
{
	add_numbers((struct target){ domain, &__itt_null, (uint32_t)scope }, key, type, count,
		    data);
}

static void add_string(struct target to, const __itt_string_handle *key, const char *data,
		       size_t len)
{
	uint32_t d;
	struct ut_tbuf *t = ut_hook_domain(to.domain, &d);
	uint64_t words[5];

	if (!t || !data)
		return;
	if (len == (size_t)-1)
		len = strlen(data);
	if (len > MOST_BYTES) {
		len = MOST_BYTES;
		ut_writer_count_cut();
	}
	words[0] = ut_pack(d, ut_string_id(key));
	ut_put_id(words + 1, 1, to.id);
	words[4] = ut_pack((uint32_t)len, to.scope);
	ut_tbuf_record(t, UT_REC_META_STR, words, 5, data, len);
}

void __itt_metadata_str_add(const __itt_domain *domain, __itt_id id, __itt_string_handle *key,
			    const char *data, size_t length)
{
	add_string((struct target){ domain, &id, 0 }, key, data, length);
}

void __itt_metadata_str_add_with_scope(const __itt_domain *domain, __itt_scope scope,
				       __itt_string_handle *key, const char *data, size_t length)
{
	add_string((struct target){ domain, &__itt_null, (uint32_t)scope }, key, data, length);
}

/* ---- formatted ----------------------------------------------------------------------------- */

/*
 * When this is the very first ITT call of a static part, the vendor's stub forwards it without
 * its variable arguments, and what va_arg would find is garbage. Such a call comes right after
 * that copy was patched on this thread, before the thread has recorded anything else.
 */
static int arguments_were_lost(struct ut_tbuf *t)
{
	int lost = t->fresh == ((uintptr_t)t->pos | 1);

	t->fresh = 0;
	return lost;
}

static void itt_meta_add_text(struct ut_tbuf *t, uint32_t d, const __itt_id *id,
			      const __itt_string_handle *format, va_list *args)
{
	char buf[4096];
	struct ut_text text = ut_text_init(buf, sizeof(buf));
	uint64_t words[5];

	if (!format || !format->strA)
		return;
	if (arguments_were_lost(t))
		ut_text_str(&text, format->strA);
	else
		ut_format(&text, format->strA, args);
	if (text.cut)
		ut_writer_count_cut();
	words[0] = ut_pack(d, ut_string_id(format));
	ut_put_id(words + 1, 1, id);
	words[4] = text.len;
	ut_tbuf_record(t, UT_REC_META_TEXT, words, 5, buf, text.len);
}

void __itt_formatted_metadata_add(const __itt_domain *domain, __itt_string_handle *format, ...)
{
	uint32_t d;
	struct ut_tbuf *t = ut_hook_domain(domain, &d);
	va_list args;

	if (!t)
		return;
	va_start(args, format);
	itt_meta_add_text(t, d, &__itt_null, format, &args);
	va_end(args);
}

void __itt_formatted_metadata_add_overlapped(const __itt_domain *domain, __itt_id id,
					     __itt_string_handle *format, ...)
{
	uint32_t d;
	struct ut_tbuf *t = ut_hook_domain(domain, &d);
	va_list args;

	if (!t)
		return;
	va_start(args, format);
	itt_meta_add_text(t, d, &id, format, &args);
	va_end(args);
}
