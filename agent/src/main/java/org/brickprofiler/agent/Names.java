package org.brickprofiler.agent;

/**
 * The form of names, paths and numbers in rules. No regular expressions: those of the shipped rules would take a third
 * of the agent's start. Stateless.
 */
final class Names {

    /** What no name contains. */
    private static final String SEPARATORS = " \t\n\u000B\f\r.,;:<>()[]/";

    /** The first of the separators are white space. */
    private static final int SPACES = 6;

    private Names() {}

    /** Returns whether a text is a name in Java. */
    static boolean isName(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (SEPARATORS.indexOf(text.charAt(i)) >= 0) {
                return false;
            }
        }
        return !text.isEmpty() && !isDigit(text.charAt(0)) && text.charAt(0) != '-';
    }

    /** Returns whether a text is the name of a method or {@code <init>}. */
    static boolean isMethod(String text) {
        return text.equals("<init>") || isName(text);
    }

    /** Returns whether a text consists of names, separated by dots. */
    static boolean isQualified(String text) {
        for (String name : text.split("\\.", -1)) {
            if (!isName(name)) {
                return false;
            }
        }
        return true;
    }

    /** Returns whether a text consists of names, separated by dots; all but the first may end with parentheses. */
    static boolean isPath(String text) {
        int dot = text.indexOf('.');
        if (dot < 0) {
            return isName(text);
        }
        for (String name : text.substring(dot + 1).split("\\.", -1)) {
            if (!isName(name.endsWith("()") ? name.substring(0, name.length() - 2) : name)) {
                return false;
            }
        }
        return isName(text.substring(0, dot));
    }

    /** Returns whether a text consists of digits, from one to a maximum. */
    static boolean isNumber(String text, int mostDigits) {
        for (int i = 0; i < text.length(); i++) {
            if (!isDigit(text.charAt(i))) {
                return false;
            }
        }
        return !text.isEmpty() && text.length() <= mostDigits;
    }

    /** Returns the place of the first white space of a text; its length if there is none. */
    static int endOfWord(String text) {
        for (int i = 0; i < text.length(); i++) {
            int separator = SEPARATORS.indexOf(text.charAt(i));
            if (separator >= 0 && separator < SPACES) {
                return i;
            }
        }
        return text.length();
    }

    private static boolean isDigit(char character) {
        return character >= '0' && character <= '9';
    }
}
