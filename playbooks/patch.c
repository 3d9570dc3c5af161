/* SPDX-License-Identifier: Apache-2.0 */
#include "playbooks/patch.h"

void patch_init(struct patch *p)
{
	buf_init(&p->text, PATCH_MAX);
}

void patch_fini(struct patch *p)
{
	buf_wipe(&p->text);
}

static void add_argv(struct patch *p, const char *const *argv)
{
	for (size_t i = 0; argv[i]; i++) {
		if (i)
			buf_addc(&p->text, ' ');
		proc_quote(&p->text, str_of(argv[i]));
	}
}

void patch_argv(struct patch *p, const char *const *argv)
{
	add_argv(p, argv);
	buf_addc(&p->text, '\n');
}

void patch_require(struct patch *p, const char *const *argv, const char *message)
{
	add_argv(p, argv);
	buf_adds(&p->text, " || { printf '%s\\n' ");
	proc_quote(&p->text, str_of(message));
	buf_adds(&p->text, "; exit 1; }\n");
}

void patch_raw(struct patch *p, const char *text)
{
	buf_adds(&p->text, text);
}

/*
 * put PATH MODE OWNER GROUP VALIDATE BACKUP REPLACE_LINK, content in base64 on stdin; "" for what
 * is not asked for. The temporary file is private until it has its owner; an old file's owner and
 * mode are taken over with stat, since chown --reference is not everywhere.
 *
 * In somebody else's folder (a user's home) its owner could put a link in the place of the file
 * that root is writing. There it is written in a folder of our own, in which we stand: whatever he
 * renames, we stay in it, and the last rename follows no link.
 */
static const char put_function[] =
	"put() {\n"
	"f=$1\n"
	"[ ! -h \"$f\" ] || [ -n \"$7\" ] || f=$(readlink -f -- \"$f\")\n"
	"d=${f%/*}; [ \"$d\" != \"$f\" ] || d=.\n"
	"d=${d:-/}; f=./${f##*/}; w=; t=\n"
	"[ -d \"$d\" ] || { printf 'Destination directory %s does not exist\\n' \"$d\"; exit 1; }\n"
	"cd -P -- \"$d\"\n"
	"trap '[ -z \"$t\" ] || rm -f -- \"$t\"; [ -z \"$w\" ] || rmdir -- \"../$w\"' EXIT\n"
	"if [ ! -O . ]; then\n"
	"d=$(stat -c %d:%i .); w=$(mktemp -d ./.muster.XXXXXX)\n"
	"cd -P -- \"$w\"; f=.$f\n"
	"[ -O . ] && [ \"$(stat -c %d:%i ..)\" = \"$d\" ] || { w=; echo 'the folder was changed meanwhile'; exit 1; }\n"
	"fi\n"
	"t=$(mktemp ./.muster.XXXXXX)\n"
	"base64 -d >\"$t\"\n"
	"m=0644; o=; g=\n"
	"if [ -f \"$f\" ]; then m=$(stat -L -c %a -- \"$f\"); o=$(stat -L -c %u -- \"$f\"); g=$(stat -L -c %g -- \"$f\"); fi\n"
	"o=${3:-$o}; g=${4:-$g}; m=${2:-$m}\n"
	"[ \"$o\" = \"$(stat -c %u -- \"$t\")\" ] || [ -z \"$o\" ] || chown -- \"$o\" \"$t\"\n"
	"[ \"$g\" = \"$(stat -c %g -- \"$t\")\" ] || [ -z \"$g\" ] || chgrp -- \"$g\" \"$t\"\n"
	"chmod -- \"$m\" \"$t\"\n"
	"if [ -n \"$5\" ]; then muster_tmp=$PWD/${t#./} sh -c \"$5\" || { echo 'failed to validate'; exit 1; }; fi\n"
	"if [ -n \"$6\" ] && [ -f \"$f\" ]; then\n"
	"b=$(mktemp ./.muster.XXXXXX); cp -p -- \"$f\" \"$b\"\n"
	"mv -f -- \"$b\" \"$f.$$.$(date +%Y-%m-%d@%H:%M:%S~)\"\n"
	"fi\n"
	"mv -f -- \"$t\" \"$f\"; t=\n"
	"[ -z \"$w\" ] || rmdir -- \"../$w\"\n"
	"trap - EXIT\n"
	"}\n";

void patch_prelude(struct buf *b)
{
	buf_adds(b, put_function);
}

/* "visudo -cf %s" to "visudo -cf "$muster_tmp"". */
static void quote_validate(struct buf *b, const char *validate)
{
	struct buf cmd scoped(buf_fini) = { 0 };
	struct str s = str_of(validate);
	size_t at;

	buf_init(&cmd, BUF_MAX_DEFAULT);
	while ((at = str_find(s, STR("%s"))) != SIZE_MAX) {
		buf_addstr(&cmd, str_sub(s, 0, at));
		buf_adds(&cmd, "\"$muster_tmp\"");
		s = str_sub(s, at + 2, SIZE_MAX);
	}
	buf_addstr(&cmd, s);
	proc_quote(b, buf_str(&cmd));
}

void patch_put(struct patch *p, const struct patch_file *f)
{
	struct buf *b = &p->text;

	buf_adds(b, "printf %s '");
	base64_encode(b, f->content);
	buf_adds(b, "' | put ");
	proc_quote(b, str_of(f->path));
	buf_addc(b, ' ');
	if (f->set_mode)
		buf_addf(b, "0%o ", f->mode);
	else
		buf_adds(b, "'' ");
	proc_quote(b, str_of(f->owner));
	buf_addc(b, ' ');
	proc_quote(b, str_of(f->group));
	buf_addc(b, ' ');
	quote_validate(b, f->validate);
	buf_adds(b, f->backup ? " 1" : " ''");
	buf_adds(b, f->replace_link ? " 1\n" : "\n");
}
