package org.brickprofiler.report;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.internal.io.AtomicFile;

/**
 * A profile as one page for a browser: what was measured, where the time went, and what makes the numbers read wrongly.
 * The page is one file that loads nothing, opens from a disk, follows the system's light or dark setting, and prints.
 *
 * <p>It holds the text of {@link JsonReport}, from which its own script draws, and which can be saved from the page; and,
 * for where scripts are off, the text of {@link TextReport}. Nothing of the profile becomes markup: neither can end the
 * element that holds it, and the script makes text of it only. A content security policy in the page allows its one
 * script and its one style sheet, by their hashes, and no connection.
 *
 * <p>Sections without data are left out. Equal snapshots give equal pages. Needs jackson-core. Stateless; any thread.
 */
public final class HtmlReport {

    private static final String STYLE = resource("report.css");
    private static final String SCRIPT = resource("report.js");

    /** The places of the page that are filled, in order: hashes, style sheet, text report, JSON, script. */
    private static final String PAGE = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '%s'; script-src '%s'">
            <title>Brick profile</title>
            <style>%s</style>
            </head>
            <body>
            <noscript><pre>%s</pre></noscript>
            <main id="report"></main>
            <script type="application/json" id="profile">%s</script>
            <script>%s</script>
            </body>
            </html>
            """;

    private HtmlReport() {}

    /**
     * The page of a profile.
     *
     * @param snapshot the profile
     * @return HTML, to be stored as UTF-8; of a profile without samples, a page that states it
     */
    public static String render(ProfileSnapshot snapshot) {
        return PAGE.formatted(
                hash(STYLE),
                hash(SCRIPT),
                STYLE,
                TextReport.render(snapshot).replace("&", "&amp;").replace("<", "&lt;"),
                // In JSON this character is in strings only, where the escape stands for it. The script takes it back.
                JsonReport.toJson(snapshot).replace("<", "\\u003c"),
                SCRIPT);
    }

    /**
     * Writes the page to a file. It is written to a temporary file in the same folder first, which then takes the place
     * of an older page in one step.
     *
     * @param snapshot the profile
     * @param path where to; its folder must exist. A pipe or a terminal is written to directly
     * @throws IOException when that fails; the message names the path and the reason, and an older page is untouched
     */
    public static void write(ProfileSnapshot snapshot, Path path) throws IOException {
        byte[] page = render(snapshot).getBytes(UTF_8);
        AtomicFile.write(path, out -> out.write(page));
    }

    private static String resource(String name) {
        try (InputStream in = HtmlReport.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("the library's jar lacks " + name + " beside HtmlReport");
            }
            // The hash is that of the text as a browser reads it, to which line ends are line feeds.
            return "\n" + new String(in.readAllBytes(), UTF_8).replace("\r\n", "\n");
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + name + " of the library's jar", e);
        }
    }

    /** What a content security policy calls a text that stands in the page. */
    private static String hash(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8));
            return "sha256-" + Base64.getEncoder().encodeToString(digest);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every Java has SHA-256", impossible);
        }
    }
}
