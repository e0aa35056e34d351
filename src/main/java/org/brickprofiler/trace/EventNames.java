package org.brickprofiler.trace;

import org.brickprofiler.record.NameTable;
import org.brickprofiler.record.SpanNames;

/**
 * Names of events that are no bricks, each with a category. There is room for some thousand; further new names share
 * one. Every method may be called from any thread; finding a name that is known allocates nothing.
 */
final class EventNames implements SpanNames {

    /** The category of what an application names and gives no category. */
    static final String APPLICATION = "Application";

    static final String OTHER_NAMES = "(other names)";

    /** Between a category and a name. No sensible category holds it. */
    private static final char SEPARATOR = '\u0000';

    private final NameTable table = new NameTable(OTHER_NAMES, 0);

    /** The key of a name in the category {@link #APPLICATION}. */
    int keyOf(String name) {
        requireText("name", name);
        return table.keyOf(name, 0);
    }

    /** The key of a name in a category. */
    int keyOf(String name, String category) {
        requireText("name", name);
        requireText("category", category);
        return table.keyOf(category.equals(APPLICATION) ? name : category + SEPARATOR + name, 0);
    }

    private static void requireText(String what, String text) {
        if (text.isEmpty() || text.indexOf(SEPARATOR) >= 0) {
            throw new IllegalArgumentException(
                    "the " + what + " of an event must have characters, none of them NUL: '" + text + "'");
        }
    }

    @Override
    public int size() {
        return table.size();
    }

    @Override
    public String name(int key) {
        String text = table.name(key);
        return text.substring(text.indexOf(SEPARATOR) + 1);
    }

    @Override
    public String category(int key) {
        String text = table.name(key);
        int end = text.indexOf(SEPARATOR);
        return end < 0 ? APPLICATION : text.substring(0, end);
    }
}
