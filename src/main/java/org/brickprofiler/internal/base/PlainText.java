package org.brickprofiler.internal.base;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Makes texts printable on every console and on one line, and shortens them. Stateless; any thread. */
public final class PlainText {

    private static final String CUT = "...";
    private static final char FIRST_PRINTABLE = ' ';
    private static final char LAST_PRINTABLE = '~';

    // The shares of the limit for the beginning of a cut text, before the difference, and for its end.
    private static final int HEAD = 4;
    private static final int BEFORE = 6;
    private static final int TAIL = 6;

    private static final String OPENING = "<({";
    private static final String CLOSING = ">)}";
    private static final String MANGLED = "_ZN";
    private static final Pattern LENGTH = Pattern.compile("[1-9]\\d{0,3}");

    private PlainText() {}

    /**
     * Escapes everything but printable ASCII, as Java source does.
     *
     * @param text any text
     * @return text in one line, for example {@code "caf\\u00e9"}
     */
    public static String ascii(String text) {
        StringBuilder plain = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char character = text.charAt(i);
            if (character >= FIRST_PRINTABLE && character <= LAST_PRINTABLE) {
                plain.append(character);
            } else {
                plain.append(escape(character));
            }
        }
        return plain.toString();
    }

    /**
     * Escapes the characters that change how a terminal shows the text around them, as Java source does: control
     * characters, and invisible ones such as those that reverse the direction of a text. Line feeds and tabs stay.
     *
     * @param text any text
     * @return the text with all of its letters
     */
    public static String visible(String text) {
        return visible(text, "\n\t");
    }

    /**
     * Escapes the same characters as {@link #visible(String)}, and line feeds and tabs.
     *
     * @param text any text
     * @return the text with all of its letters, in one line
     */
    public static String oneLine(String text) {
        return visible(text, "");
    }

    private static String visible(String text, String kept) {
        StringBuilder shown = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char character = text.charAt(i);
            int type = Character.getType(character);
            boolean isHidden = type == Character.CONTROL
                    || type == Character.FORMAT
                    || type == Character.LINE_SEPARATOR
                    || type == Character.PARAGRAPH_SEPARATOR;
            if (isHidden && kept.indexOf(character) < 0) {
                shown.append(escape(character));
            } else {
                shown.append(character);
            }
        }
        return shown.toString();
    }

    /**
     * Escapes a character, as Java source does.
     *
     * @param character any character
     * @return for example {@code "\\u0007"}
     */
    public static String escape(char character) {
        return switch (character) {
            case '\n' -> "\\n";
            case '\r' -> "\\r";
            case '\t' -> "\\t";
            default -> String.format(Locale.ROOT, "\\u%04x", (int) character);
        };
    }

    /**
     * Cuts a text that is too long in its middle: the names of an engine's steps tend to differ at the end.
     *
     * @param text any text
     * @param limit the most characters to return, at least 5
     * @return the text, or its beginning and its end with {@code "..."} between them
     */
    public static String shortened(String text, int limit) {
        if (text.length() <= limit) {
            return text;
        }
        int kept = limit - CUT.length();
        int tail = kept / 2;
        return text.substring(0, kept - tail) + CUT + text.substring(text.length() - tail);
    }

    /**
     * Cuts texts that are too long, so that different texts stay different. A text is cut in its middle or, if the
     * results of several texts would be equal, around the place at which these begin to differ. If the results are
     * still equal, they are numbered. A long text that names a C++ function is first reduced to the function's name and
     * template arguments. If several texts would then be equal, their parameters are kept, too; if they still would,
     * the whole texts are kept.
     *
     * @param texts any texts
     * @param limit the most characters of each returned text, at least 30
     * @return the texts in their order; equal texts remain equal
     */
    public static List<String> shortened(List<String> texts, int limit) {
        Map<String, String> names = functions(texts, limit);
        Map<String, String> cut = new LinkedHashMap<>();
        names.values().forEach(name -> cut.put(name, shortened(name, limit)));
        separate(cut, cut.keySet(), limit);
        Map<String, Integer> uses = new HashMap<>();
        cut.replaceAll((text, shown) -> {
            int use = uses.merge(shown, 1, Integer::sum);
            String number = " (" + use + ")";
            return use == 1 ? shown : shown.substring(0, Math.min(shown.length(), limit - number.length())) + number;
        });
        return texts.stream().map(text -> cut.get(names.get(text))).toList();
    }

    /**
     * Returns the name to show for each text. For a long text this is the function that it names, with parameters if
     * only these distinguish it. For a short text, or if another text has the same function and parameters, it is the
     * text itself.
     */
    private static Map<String, String> functions(List<String> texts, int limit) {
        Map<String, String> names = new LinkedHashMap<>();
        texts.forEach(text -> names.put(text, text.length() <= limit ? text : function(text, false)));
        replaceRepeated(names, text -> text.length() <= limit ? text : function(text, true));
        replaceRepeated(names, text -> text);
        return names;
    }

    private static void replaceRepeated(Map<String, String> names, UnaryOperator<String> other) {
        Map<String, Integer> uses = new HashMap<>();
        names.values().forEach(name -> uses.merge(name, 1, Integer::sum));
        names.replaceAll((text, name) -> uses.getOrDefault(name, 0) > 1 ? other.apply(text) : name);
    }

    /**
     * Returns the name of a function in a C++ declaration, with its template arguments, or the last part of a mangled
     * name.
     *
     * @param text any text
     * @param withParameters whether the parameters of a declaration are included
     * @return the text itself if it is neither
     */
    private static String function(String text, boolean withParameters) {
        if (text.startsWith(MANGLED)) {
            return lastPart(text, MANGLED.length());
        }
        if (!text.startsWith("void ") && !text.contains("::")) {
            return text;
        }
        int from = text.startsWith("void ") ? "void ".length() : 0;
        int parameters = -1;
        int depth = 0;
        for (int i = from; i < text.length(); i++) {
            char character = text.charAt(i);
            if (depth == 0 && text.startsWith("::", i)) {
                from = i + 2;
                parameters = -1;
            } else if (OPENING.indexOf(character) >= 0) {
                parameters = depth++ == 0 && character == '(' && parameters < 0 ? i : parameters;
            } else if (CLOSING.indexOf(character) >= 0) {
                depth--;
            }
        }
        if (depth != 0 || from >= text.length() || parameters == from || text.startsWith("operator", from)) {
            return text;
        }
        return parameters < 0 || withParameters ? text.substring(from) : text.substring(from, parameters);
    }

    /** Returns the last part of a mangled nested name, in which the length of each part precedes it. */
    private static String lastPart(String text, int begin) {
        String last = text;
        Matcher length = LENGTH.matcher(text);
        int at = begin;
        while (length.find(at) && length.start() == at) {
            int end = length.end() + Integer.parseInt(length.group());
            if (end > text.length()) {
                break;
            }
            last = text.substring(length.end(), end);
            at = end;
        }
        return last;
    }

    /** Cuts those texts again whose cut forms are equal. */
    private static void separate(Map<String, String> cut, Collection<String> texts, int limit) {
        Map<String, List<String>> same = new LinkedHashMap<>();
        texts.forEach(text ->
                same.computeIfAbsent(cut.get(text), shown -> new ArrayList<>()).add(text));
        for (List<String> alike : same.values()) {
            if (alike.size() > 1) {
                int differAt = alike.stream()
                        .skip(1)
                        .mapToInt(text -> common(alike.get(0), text))
                        .min()
                        .orElse(0);
                alike.forEach(text -> cut.put(text, around(text, differAt, limit)));
                if (alike.stream().map(cut::get).distinct().count() > 1) {
                    separate(cut, alike, limit);
                }
            }
        }
    }

    /** Returns the length of the common prefix of two texts. */
    private static int common(String one, String two) {
        int length = Math.min(one.length(), two.length());
        int differ = Arrays.mismatch(one.toCharArray(), 0, length, two.toCharArray(), 0, length);
        return differ >= 0 ? differ : length;
    }

    /** Returns the beginning of a text, a part of it around a place, and its end. */
    private static String around(String text, int place, int limit) {
        int head = limit / HEAD;
        int tail = limit / TAIL;
        int from = place - limit / BEFORE;
        int to = from + limit - head - tail - 2 * CUT.length();
        int end = text.length() - tail;
        if (text.length() <= limit) {
            return text;
        }
        if (from <= head + CUT.length()) {
            return text.substring(0, limit - tail - CUT.length()) + CUT + text.substring(end);
        }
        if (to >= end - CUT.length()) {
            return text.substring(0, head) + CUT + text.substring(text.length() - (limit - head - CUT.length()));
        }
        return text.substring(0, head) + CUT + text.substring(from, to) + CUT + text.substring(end);
    }
}
