package org.brickprofiler.trace.write;

import java.nio.charset.StandardCharsets;

/** Text as files hold it. Stateless. */
final class Utf8 {

    private static final char REPLACEMENT = '\uFFFD';

    private Utf8() {}

    /** The text in UTF-8. Half of a surrogate pair has no encoding and becomes the replacement character. */
    static byte[] bytes(String text) {
        return wellFormed(text).getBytes(StandardCharsets.UTF_8);
    }

    /** The text with the replacement character for each half of a surrogate pair that stands alone. */
    static String wellFormed(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isSurrogate(text.charAt(i))) {
                return replaceLoneSurrogates(text);
            }
        }
        return text;
    }

    private static String replaceLoneSurrogates(String text) {
        StringBuilder clean = new StringBuilder(text.length());
        text.codePoints()
                .map(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE ? REPLACEMENT : c)
                .forEach(clean::appendCodePoint);
        return clean.toString();
    }
}
