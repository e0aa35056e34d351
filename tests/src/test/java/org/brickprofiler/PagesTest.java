package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.SourceTree;
import org.junit.jupiter.api.Test;

/** Everything that the documents name exists: files, folders, tests, benchmarks and profiles of the build. */
@OneJdk
final class PagesTest {

    private static final List<Path> FOLDERS = Stream.of(".", "docs", "native/gpu-check", "native/metal-shim")
            .map(SourceTree::path)
            .toList();

    private static final Pattern LINK = Pattern.compile("\\]\\((?!https?:)([^)#]+)");
    private static final Pattern PATH = Pattern.compile(
            "`((?:src|docs|native|gpu|timeline|metrics|analysis|readers|agent|tools|tests|build|\\.ci)/[\\w./-]+)`");
    private static final Pattern CLASS = Pattern.compile("`([A-Z][a-z]\\w*(?:Test|IT|Properties|Benchmark))`");
    private static final Pattern PROFILE = Pattern.compile("mvn [^\\n]*?-P(\\w+)");

    /** The match of a pattern in a page, and the page's folder. */
    private record Named(Path folder, String text) {}

    private static List<Named> named(Pattern pattern) throws IOException {
        List<Named> all = new ArrayList<>();
        for (Path folder : FOLDERS) {
            try (Stream<Path> files = Files.list(folder)) {
                for (Path page :
                        files.filter(file -> file.toString().endsWith(".md")).toList()) {
                    pattern.matcher(Files.readString(page))
                            .results()
                            .forEach(found -> all.add(new Named(folder, found.group(1))));
                }
            }
        }
        assertThat(all).as(pattern.pattern()).isNotEmpty();
        return all;
    }

    @Test
    void linksLeadSomewhere() throws IOException {
        assertThat(named(LINK)).allSatisfy(link -> assertThat(link.folder().resolve(link.text()))
                .exists());
    }

    @Test
    void filesAndFoldersAreThere() throws IOException {
        assertThat(named(PATH))
                .allSatisfy(path -> assertThat(SourceTree.path(path.text())).exists());
    }

    @Test
    void testsAndBenchmarksAreThere() throws IOException {
        Set<String> sources = SourceTree.javaFiles().stream()
                .map(file -> file.getFileName().toString())
                .collect(Collectors.toSet());
        assertThat(named(CLASS)).allSatisfy(name -> assertThat(sources).contains(name.text() + ".java"));
    }

    @Test
    void profilesAreThoseOfTheBuild() throws IOException {
        StringBuilder projects = new StringBuilder(Files.readString(SourceTree.path("build", "parent.xml")));
        for (Path project : SourceTree.projects()) {
            projects.append(Files.readString(project.resolve("pom.xml")));
        }
        assertThat(named(PROFILE)).allSatisfy(name -> assertThat(projects).contains("<id>" + name.text() + "</id>"));
    }
}
