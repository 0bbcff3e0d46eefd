#include "text/html.h"

#include "text/out.h"

void ut_html_text(struct ut_out *o, const char *s, size_t len)
{
	size_t from = 0;

	for (size_t i = 0; i < len; i++) {
		const char *as = s[i] == '<'   ? "&lt;"
				 : s[i] == '>' ? "&gt;"
				 : s[i] == '&' ? "&amp;"
				 : s[i] == '"' ? "&quot;"
				 : !s[i]       ? "\xef\xbf\xbd"
					       : NULL;

		if (!as)
			continue;
		ut_out_write(o, s + from, i - from);
		ut_out_text(o, as);
		from = i + 1;
	}
	ut_out_write(o, s + from, len - from);
}
