package org.brickprofiler.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * docs/GUIDE.md in two parts, since the commands of one need the agent's jar.
 *
 * @param ofTheAgent the section on the agent
 * @param others the other sections
 */
public record GuidePage(String ofTheAgent, String others) {

    private static final Pattern SECTION = Pattern.compile("(?ms)^## An engine without its source$.*?(?=^## )");

    /** Reads the page. */
    public static GuidePage read() throws IOException {
        Matcher section = SECTION.matcher(Files.readString(SourceTree.path("docs", "GUIDE.md")));
        if (!section.find()) {
            throw new IOException("the page has no section on the agent");
        }
        return new GuidePage(section.group(), section.replaceAll(""));
    }
}
