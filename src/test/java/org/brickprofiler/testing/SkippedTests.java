package org.brickprofiler.testing;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/**
 * Prints the last line of a build: the number of tests that were skipped because the machine lacks their
 * {@link Fixture}, and the packages to install. It reads the reports of Surefire and Failsafe, so it includes the tests
 * of all virtual machines.
 */
public final class SkippedTests {

    private SkippedTests() {}

    /**
     * Prints one line, or nothing if no test was skipped for want of a fixture.
     *
     * @param arguments when the build began, as an {@link Instant}; then the folders of its reports
     */
    public static void main(String[] arguments) throws IOException, XMLStreamException {
        List<Path> folders = Stream.of(arguments).skip(1).map(Path::of).toList();
        sentence(folders, Instant.parse(arguments[0])).ifPresent(System.out::println);
    }

    /**
     * Returns the line.
     *
     * @param folders the folders of reports; a folder that does not exist has none
     * @param since older reports are ignored, since they are of an earlier build
     */
    static Optional<String> sentence(Collection<Path> folders, Instant since) throws IOException, XMLStreamException {
        Map<Fixture, Integer> skipped = count(folders, since);
        if (skipped.isEmpty()) {
            return Optional.empty();
        }
        List<String> parts = new ArrayList<>();
        TreeSet<String> packages = new TreeSet<>();
        int all = 0;
        for (Map.Entry<Fixture, Integer> entry : skipped.entrySet()) {
            all += entry.getValue();
            parts.add(entry.getValue() + " of " + entry.getKey().title());
            packages.addAll(entry.getKey().packages());
        }
        return Optional.of("Skipped " + all + (all == 1 ? " test: " : " tests: ") + String.join(", ", parts)
                + ". What they need, on Debian or Ubuntu (amd64): sudo apt-get install " + String.join(" ", packages));
    }

    private static Map<Fixture, Integer> count(Collection<Path> folders, Instant since)
            throws IOException, XMLStreamException {
        Map<Fixture, Integer> skipped = new EnumMap<>(Fixture.class);
        for (Path folder : folders) {
            if (Files.isDirectory(folder)) {
                try (DirectoryStream<Path> reports = Files.newDirectoryStream(folder, "TEST-*.xml")) {
                    for (Path report : reports) {
                        if (!Files.getLastModifiedTime(report).toInstant().isBefore(since)) {
                            count(report, skipped);
                        }
                    }
                }
            }
        }
        return skipped;
    }

    private static void count(Path report, Map<Fixture, Integer> skipped) throws IOException, XMLStreamException {
        XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        try (InputStream in = Files.newInputStream(report)) {
            XMLStreamReader xml = factory.createXMLStreamReader(in);
            while (xml.hasNext()) {
                if (xml.next() == XMLStreamReader.START_ELEMENT
                        && xml.getLocalName().equals("skipped")) {
                    // The exception with its stack: the class comes first, and then the message.
                    String thrown = xml.getElementText().strip();
                    for (Fixture fixture : Fixture.values()) {
                        if (thrown.startsWith(Fixture.Missing.class.getName() + ": " + fixture.title() + ": ")) {
                            skipped.merge(fixture, 1, Integer::sum);
                        }
                    }
                }
            }
        }
    }
}
