package org.brickprofiler;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.SourceTree;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** Checks the numbered rules of docs/spec against the tests that cite them by {@link Spec}. */
@OneJdk
final class SpecificationTest {

    private static final Path ENTRY = SourceTree.path("docs", "SPEC.md");
    private static final Path PAGES = SourceTree.path("docs", "spec");
    private static final Pattern LINK = Pattern.compile("\\(spec/([a-z]+\\.md)\\)");
    private static final Pattern SECTION = Pattern.compile("\\b(\\d+) [a-z]");
    private static final Pattern RULE = Pattern.compile("^- \\*\\*([^*]+)\\*\\*", Pattern.MULTILINE);
    private static final Pattern CITATION = Pattern.compile("@Spec\\(([^)]*)\\)");
    private static final Pattern QUOTED = Pattern.compile("\"([^\"]*)\"");

    private static List<Path> pages() throws IOException {
        try (Stream<Path> pages = Files.list(PAGES)) {
            return pages.sorted().toList();
        }
    }

    private static List<String> rules() throws IOException {
        List<String> rules = new ArrayList<>();
        for (Path page : pages()) {
            RULE.matcher(Files.readString(page)).results().forEach(rule -> rules.add(rule.group(1)));
        }
        return rules;
    }

    /** Numbers of rules, each with the names of the source files that cite it. */
    private static Map<String, Set<String>> citations() {
        return SourceTree.javaFiles().stream()
                .flatMap(file -> numbers(file)
                        .map(number -> Map.entry(number, file.getFileName().toString())))
                .collect(groupingBy(Map.Entry::getKey, TreeMap::new, mapping(Map.Entry::getValue, toSet())));
    }

    private static Stream<String> numbers(Path file) {
        String source;
        try {
            source = Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return CITATION.matcher(source)
                .results()
                .flatMap(citation -> QUOTED.matcher(citation.group(1)).results())
                .map((MatchResult number) -> number.group(1));
    }

    @Test
    void everyNumberIsThereOnceAndInItsSection() throws IOException {
        assertThat(rules()).doesNotHaveDuplicates().isNotEmpty();
        for (Path page : pages()) {
            String section = "";
            for (String line : Files.readAllLines(page)) {
                if (line.startsWith("## ")) {
                    section = line.substring(3, line.indexOf('.') + 1);
                } else if (line.startsWith("- **")) {
                    assertThat(line).startsWith("- **" + section);
                }
            }
        }
    }

    @Test
    void theEntryListsEachPageWithItsSections() throws IOException {
        Map<String, List<String>> listed = new TreeMap<>();
        for (String line : Files.readAllLines(ENTRY)) {
            Matcher link = LINK.matcher(line);
            if (link.find()) {
                String sections = line.substring(line.lastIndexOf(" | ", line.length() - 3));
                listed.put(
                        link.group(1),
                        SECTION.matcher(sections)
                                .results()
                                .map(section -> section.group(1))
                                .toList());
            }
        }
        Map<String, List<String>> there = new TreeMap<>();
        for (Path page : pages()) {
            there.put(
                    page.getFileName().toString(),
                    Files.readAllLines(page).stream()
                            .filter(line -> line.startsWith("## "))
                            .map(line -> line.substring(3, line.indexOf('.')))
                            .toList());
        }
        assertThat(listed).isEqualTo(there);
    }

    @Test
    void everyRuleIsCitedByATest() throws IOException {
        assertThat(rules()).isSubsetOf(citations().keySet());
    }

    @Test
    void everyCitationIsOfARule() throws IOException {
        Map<String, Set<String>> unknown = citations();
        unknown.keySet().removeAll(rules());
        assertThat(unknown)
                .as("numbers that docs/spec does not have, and where they are cited")
                .isEmpty();
    }
}
