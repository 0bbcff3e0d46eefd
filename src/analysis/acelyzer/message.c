#include "acelyzer/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"

void ut_ace_say(struct ut_ace_messages *m, enum ut_ace_level level, const char *fmt, ...)
{
	struct ut_ace_message *item;
	va_list ap;

	m->items = ut_grow(m->items, m->count + 1, &m->cap, sizeof(*m->items));
	item = &m->items[m->count++];
	item->level = level;
	va_start(ap, fmt);
	if (vasprintf(&item->text, fmt, ap) < 0)
		abort();
	va_end(ap);
	if (m->notify)
		m->notify(m->ctx, item);
}

void ut_ace_messages_release(struct ut_ace_messages *m)
{
	for (size_t i = 0; i < m->count; i++)
		free(m->items[i].text);
	free(m->items);
	m->items = NULL;
	m->count = m->cap = 0;
}
