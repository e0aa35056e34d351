package org.brickprofiler.cli;

/**
 * The commands, and the text of {@code brick --help}. The text is made without picocli, whose reflection takes longer
 * than everything else in this call; for the same reason nothing here links a lambda or joins strings by {@code +}.
 * Stateless; any thread.
 */
final class CommandList {

    private static final String BOLD = "\u001b[1m";
    private static final String PLAIN = "\u001b[0m";

    /** The width of the column of names. */
    private static final int NAME_COLUMNS = 12;

    /** The first two lines of the text: the command lines, and the purpose. */
    static final String TITLE = """
            Usage: brick COMMAND [OPTIONS], brick COMMAND --help, brick --version
            Profiles the forward pass of language models, and reads what others profiled.
            """;

    /** The paragraphs behind the list of commands, each under a heading. */
    static final String TAIL = """
            Exit codes:
              0   success; two logs agree
              1   nothing was found, two logs differ, or a device is missing or computes
                  other values
              2   invalid input, or the output cannot be written
              3   a brick is slower than --fail-on-regression allows
              4   --fail-on-regression could compare no line

            Examples:
              Where does the time of this trace of PyTorch go?
                brick report trace.json.gz
              The same for a spreadsheet:
                brick report trace.json.gz --csv > bricks.csv
              Which bricks did the edit make slower?
                brick compare before/ -- after/
              Which is the first brick whose output has changed?
                brick diverge new.jsonl reference.jsonl --tolerance float16
              What does the engine in the process 4711 do right now?
                brick top 4711
              Try the profiler on a small model:
                brick demo --layers 4 --tokens 200
              Completion of commands, options and files in this shell (bash or zsh):
                source <(brick completion)
            """;

    /** The purposes of commands, in the order of the text. */
    enum Purpose {
        LOOK("Look"),
        COMPARE("Compare"),
        WATCH("Watch"),
        MAKE("Make");

        final String heading;

        Purpose(String heading) {
            this.heading = heading;
        }
    }

    /** A command, in the order of the text. */
    enum Entry {
        REPORT("report", Purpose.LOOK, "where the time of a profile or a trace goes, as text or a page"),
        FLEET("fleet", Purpose.LOOK, "the profiles of many ranks and runs, in tables to query"),
        DEVICES("devices", Purpose.LOOK, "the devices whose work can be timed, or why there is none"),
        COMPARE("compare", Purpose.COMPARE, "the bricks that changed between two sets of runs"),
        RUN("run", Purpose.COMPARE, "run two commands in alternation, and compare their profiles"),
        DIVERGE("diverge", Purpose.COMPARE, "the first brick whose checksum differs between two logs"),
        TOP("top", Purpose.WATCH, "what an engine does now, once a second"),
        ATTACH("attach", Purpose.WATCH, "start the agent in an engine that runs, or change what it does"),
        DEMO("demo", Purpose.MAKE, "a profile of a small model with random weights"),
        CONVERT("convert", Purpose.MAKE, "a timeline, or a table of sums, from a trace or a report"),
        ROOFLINE("roofline", Purpose.MAKE, "a file of this machine's limits, for brick report"),
        SUGGEST("suggest", Purpose.MAKE, "rules of the agent for an engine"),
        COMPLETION("completion", Purpose.MAKE, "the completion of this command line, for bash and zsh");

        /** The word that names the command. */
        final String word;

        final Purpose purpose;

        /** A line without a full stop. */
        final String summary;

        Entry(String word, Purpose purpose, String summary) {
            this.word = word;
            this.purpose = purpose;
            this.summary = summary;
        }
    }

    private CommandList() {}

    /**
     * Returns whether a word names a command.
     *
     * @param word the word
     */
    static boolean contains(String word) {
        for (Entry entry : Entry.values()) {
            if (entry.word.equals(word)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns the text of {@code brick --help}.
     *
     * @param isStyled whether headings are bold
     */
    static String help(boolean isStyled) {
        StringBuilder text = new StringBuilder(TITLE);
        for (Purpose purpose : Purpose.values()) {
            text.append('\n').append(purpose.heading).append(":\n");
            for (Entry entry : Entry.values()) {
                if (entry.purpose == purpose) {
                    int blanks = NAME_COLUMNS - entry.word.length();
                    text.append("  ").append(entry.word).append(" ".repeat(blanks));
                    text.append(entry.summary).append('\n');
                }
            }
        }
        text.append('\n').append(TAIL);
        return isStyled ? bold(text) : text.toString();
    }

    /** Returns a text whose headings, the lines that begin a paragraph and end with a colon, are bold. */
    private static String bold(StringBuilder text) {
        StringBuilder styled = new StringBuilder();
        int at = 0;
        for (int end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", at)) {
            boolean isHeading = end > at && text.charAt(at) != ' ' && text.charAt(end - 1) == ':';
            styled.append(isHeading ? BOLD : "").append(text, at, end);
            styled.append(isHeading ? PLAIN : "").append('\n');
            at = end + 1;
        }
        return styled.toString();
    }
}
