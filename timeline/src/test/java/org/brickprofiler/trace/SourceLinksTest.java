package org.brickprofiler.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import org.brickprofiler.report.HtmlReport;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.Profiles;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.CallTree.Node;
import org.brickprofiler.trace.LineProfile.OfBrick;
import org.brickprofiler.trace.LineProfile.Samples;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The data of a page from which its lines become links. */
@OneJdk
class SourceLinksTest {

    private static final String START = "id=\"sources\">";

    @TempDir
    private Path folder;

    @BeforeEach
    void addSource() throws IOException {
        Path source = folder.resolve(Path.of("org", "example", "Engine.java"));
        Files.createDirectories(source.getParent());
        Files.writeString(source, "");
    }

    /** Returns the data for frames, each a method and its line. */
    private static String data(SourceLinks links, Frame... frames) {
        List<Node> nodes = Arrays.stream(frames)
                .map(frame -> new Node(CallTree.NO_PARENT, frame, 1))
                .toList();
        OfBrick brick =
                new OfBrick("Head", Optional.empty(), 0, OptionalDouble.empty(), new CallTree(nodes), CallTree.EMPTY);
        String page = HtmlReport.of(Profiles.empty())
                .with(links.part(new LineProfile(Samples.NONE, 0, 0, Optional.empty(), List.of(brick))))
                .render();
        int start = page.indexOf(START) + START.length();
        return page.substring(start, page.indexOf("</script>", start)).strip();
    }

    private static Frame frame(String method) {
        return new Frame(method, 8, "Inlined");
    }

    @Spec("13.20")
    @Test
    void aClassHasTheSourceOfItsOutermostClassInAFolder() {
        assertThat(data(
                        SourceLinks.to(List.of(folder.toString())),
                        frame("org.example.Engine.run"),
                        frame("org.example.Engine$Inner$1.run"),
                        frame("org.example.Engine$$Lambda.run"),
                        frame("org.example.Other.run"),
                        frame("java.util.ArrayList.get"),
                        frame("org.example/../Engine.run"),
                        frame("run"),
                        new Frame("org.example.Unknown.run", Frame.NO_LINE, "Interpreted")))
                .isEqualTo("{\"roots\":[\"" + folder.toUri()
                        + "\"],\"classes\":[\"org.example.Engine\"],\"root\":[0],\"text\":"
                        + "\"Lines lead to the sources of 1 class. No root has the source of 1 other class.\"}");
    }

    @Spec("13.20")
    @Test
    void theFirstRootWithTheSourceCounts() {
        SourceLinks links = SourceLinks.to(List.of(folder + "=https://example.org/src", "http://libraries.example/"));

        assertThat(data(links, frame("org.example.Engine.run"), frame("a.B.c"), frame("jdk.internal.A.b")))
                .isEqualTo("{\"roots\":[\"https://example.org/src/\",\"http://libraries.example/\"],"
                        + "\"classes\":[\"a.B\",\"org.example.Engine\"],\"root\":[1,0],\"text\":"
                        + "\"Lines lead to the sources of 2 classes.\"}");
    }

    @Spec("13.20")
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            no/such/folder                | source root no/such/folder: no/such/folder is neither a folder nor an address
            javascript:alert(1)           | javascript:alert(1) is neither a folder nor an address
            none=https://example.org      | source root none=https://example.org: none is neither a folder
            https://example.org/a?b=1     | source root https://example.org/a?b=1: the address of a folder has a host
            https://example.org/#a        | source root https://example.org/#a: the address
            https:///a                    | source root https:///a: the address of a folder has a host
            https://a b                   | source root https://a b: Illegal character
            https://me:secret@example.org | source root with a user name for example.org: everybody who opens the page
            """)
    void refusesWhatIsNoRoot(String root, String reason) {
        assertThatThrownBy(() -> SourceLinks.to(List.of(root)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(reason)
                .hasMessageNotContaining("secret");
    }
}
