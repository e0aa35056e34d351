package org.brickprofiler.report.internal;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A page in one file for a browser: a style sheet, data as JSON, and a script that draws from the data. The page loads
 * nothing. Data never becomes markup: it cannot end the element that holds it, and the script inserts it as text only.
 * A content security policy in the page allows its one script and its one style sheet, by their hashes, and no
 * connection. Stateless; any thread.
 */
public final class HtmlPage {

    /** Comments of the style sheet, and the indentation of its lines. The build has omitted them from the scripts. */
    private static final Pattern OMITTED = Pattern.compile("^ *(?:/\\*.*?\\*/\n)?", Pattern.MULTILINE | Pattern.DOTALL);

    private static final String STYLE = OMITTED.matcher(resource(HtmlPage.class::getResourceAsStream, "page.css"))
            .replaceAll("");
    private static final String COMMON = resource(HtmlPage.class::getResourceAsStream, "page.js");

    /** The page. Its placeholders are, in order: hashes, title, style sheet, text, data, script. */
    private static final String PAGE = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '%s'; script-src '%s'">
            <title>%s</title>
            <style>%s</style>
            </head>
            <body>
            <noscript><pre>%s</pre></noscript>
            <main id="report"></main>
            %s<script type="module">%s</script>
            </body>
            </html>
            """;

    private HtmlPage() {}

    /** Opens the files beside a class. */
    public interface Files {
        /**
         * Opens a file.
         *
         * @param name its name
         * @return its bytes, or {@code null} if there is none
         */
        @Nullable
        InputStream open(String name);
    }

    /**
     * Returns a page.
     *
     * @param title the title of the window, without markup
     * @param files opens a file beside the class to which the page belongs, {@code null} if there is none; the class
     *     itself must do so, since a module hides its files from others
     * @param scripts the names of the scripts that draw the page. They are concatenated in this order, after the
     *     functions shared by all pages, to one module
     * @param text the text that is shown if scripts are off
     * @param data elements of {@link #data}, concatenated
     * @return HTML, to be stored as UTF-8
     */
    public static String render(String title, Files files, List<String> scripts, String text, String data) {
        String all =
                COMMON + scripts.stream().map(script -> resource(files, script)).collect(Collectors.joining());
        return PAGE.formatted(
                hash(STYLE), hash(all), title, STYLE, text.replace("&", "&amp;").replace("<", "&lt;"), data, all);
    }

    /**
     * Returns an element that holds data.
     *
     * @param id the identifier by which the script finds the element
     * @param json its text; a script can return it unchanged
     * @return an element and a line break
     */
    public static String data(String id, String json) {
        // In JSON this character occurs in strings only, and the escape represents it there. The script reverses the
        // escape.
        return "<script type=\"application/json\" id=\"" + id + "\">" + json.replace("<", "\\u003c") + "</script>\n";
    }

    /**
     * Writes the value of one row of a column.
     *
     * @param <T> the type of a row
     */
    public interface Cell<T> {
        /**
         * Writes the value.
         *
         * @param row the row
         * @throws IOException when writing fails
         */
        void write(T row) throws IOException;
    }

    /**
     * Writes a column of a table: an array with a value for each row.
     *
     * @param <T> the type of a row
     * @param json the target
     * @param key the key of the array
     * @param rows the rows, in order
     * @param cell writes the value of a row
     * @throws IOException when writing fails
     */
    public static <T> void column(JsonGenerator json, String key, Collection<T> rows, Cell<T> cell) throws IOException {
        json.writeArrayFieldStart(key);
        for (T row : rows) {
            cell.write(row);
        }
        json.writeEndArray();
    }

    /**
     * Writes a column of texts: an array of the distinct texts, and an array with the index of each row's text.
     *
     * @param <T> the type of a row
     * @param json the target
     * @param key the key of the array of indices
     * @param keyOfTexts the key of the array of texts
     * @param rows the rows, in order
     * @param text the text of a row
     * @throws IOException when writing fails
     */
    public static <T> void column(
            JsonGenerator json, String key, String keyOfTexts, Collection<T> rows, Function<T, String> text)
            throws IOException {
        Map<String, Integer> places = new LinkedHashMap<>();
        column(
                json,
                key,
                rows,
                row -> json.writeNumber(places.computeIfAbsent(text.apply(row), first -> places.size())));
        column(json, keyOfTexts, places.keySet(), json::writeString);
    }

    private static String resource(Files files, String name) {
        try (InputStream in = files.open(name)) {
            if (in == null) {
                throw new IllegalStateException("the jar lacks " + name);
            }
            // A browser normalises line ends to line feeds before it hashes the text.
            return "\n" + new String(in.readAllBytes(), UTF_8).replace("\r\n", "\n");
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + name + " of the jar", e);
        }
    }

    /** Returns the hash by which a content security policy allows a text of the page. */
    private static String hash(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8));
            return "sha256-" + Base64.getEncoder().encodeToString(digest);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every Java has SHA-256", impossible);
        }
    }
}
