package org.brickprofiler;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathExpressionException;
import javax.xml.xpath.XPathFactory;
import org.brickprofiler.testing.SourceTree;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * Checks that the folder of a release has all that Maven Central demands of each artifact: the jars of classes, sources
 * and Javadoc, a POM with the fields that describe it, and checksums; and the list of libraries (CycloneDX). Signatures
 * are demanded if the build has a key to sign with. The demands are those of the page <i>Requirements</i> of Central's
 * publisher documentation.
 */
public final class ReleaseCheck {

    /** The fields of a POM that must have a text, as XPath below {@code project}. */
    static final List<String> FIELDS = List.of(
            "groupId",
            "artifactId",
            "version",
            "name",
            "description",
            "url",
            "licenses/license/name",
            "licenses/license/url",
            "developers/developer/name",
            "developers/developer/organization",
            "developers/developer/organizationUrl",
            "scm/connection",
            "scm/developerConnection",
            "scm/url");

    /** What follows artifact and version in the names of the files. */
    static final List<String> FILES = List.of(".pom", ".jar", "-sources.jar", "-javadoc.jar", "-cyclonedx.json");

    /** The ends of the files with checksums, with the algorithms. */
    static final Map<String, String> CHECKSUMS = new TreeMap<>(Map.of(".md5", "MD5", ".sha1", "SHA-1"));

    /** The programs by their plain names, with the artifacts that they are and what follows the version there. */
    static final Map<String, List<String>> PROGRAMS = new TreeMap<>(Map.of(
            "brick.jar", List.of("brick-profiler-cli", "-all.jar"),
            "brick.1", List.of("brick-profiler-cli", "-manual.1"),
            "brick-profiler-agent.jar", List.of("brick-profiler-agent", "-agent.jar")));

    private static final String SIGNATURE = ".asc";

    private final Path folder;
    private final String version;
    private final boolean isSigned;
    private final List<String> problems = new ArrayList<>();

    private ReleaseCheck(Path folder, String version, boolean isSigned) {
        this.folder = folder;
        this.version = version;
        this.isSigned = isSigned;
    }

    /**
     * Prints the files of a release, and fails if something is missing. It removes what belongs to no release: the
     * lists of versions, which a repository keeps itself, and the fixtures of the tests. It copies the programs to a
     * second folder, for users who download them without Maven.
     *
     * @param arguments the folder, the version, the folder for the programs, and whether the build signed nothing:
     *     {@code true} or {@code false}
     */
    public static void main(String[] arguments) throws IOException {
        Path folder = Path.of(arguments[0]);
        for (Path file : files(folder)) {
            String name = file.getFileName().toString();
            if (name.startsWith("maven-metadata") || name.contains("-tests.jar")) {
                Files.delete(file);
            }
        }
        List<String> artifacts =
                SourceTree.published().stream().map(SourceTree::artifact).toList();
        boolean isSigned = !Boolean.parseBoolean(arguments[3]);
        List<String> problems = new ArrayList<>(problems(folder, arguments[1], isSigned, artifacts));
        problems.addAll(copyPrograms(folder, arguments[1], Path.of(arguments[2])));
        for (Path file : files(folder)) {
            if (!isAdded(file.getFileName().toString())) {
                System.out.printf("%,12d %s%n", Files.size(file), folder.relativize(file));
            }
        }
        if (!problems.isEmpty()) {
            throw new IllegalStateException(
                    "the release in " + folder + " is incomplete:\n  " + String.join("\n  ", problems));
        }
        System.out.println(
                isSigned
                        ? "release: complete and signed"
                        : "release: complete but for its signatures, which were skipped: the variable MAVEN_GPG_KEY"
                                + " states no key");
    }

    /**
     * Returns what is missing.
     *
     * @param folder the folder, laid out as a repository
     * @param version the version of all artifacts
     * @param isSigned whether each file has to have a signature; if not, none may have one
     * @param artifacts the names of the artifacts
     */
    static List<String> problems(Path folder, String version, boolean isSigned, Collection<String> artifacts)
            throws IOException {
        ReleaseCheck check = new ReleaseCheck(folder, version, isSigned);
        if (version.endsWith("-SNAPSHOT")) {
            check.problems.add("the version " + version + " is none of a release");
        }
        for (String artifact : artifacts) {
            check.artifact(artifact);
        }
        check.signatures();
        return check.problems;
    }

    /**
     * Copies the programs and their manual page under plain names, and writes their checksums, as {@code sha256sum -c}
     * reads them.
     *
     * @param folder the folder of the release
     * @param version the version of all artifacts
     * @param programs the folder for the copies; made if it does not exist
     * @return what is missing in the release
     */
    static List<String> copyPrograms(Path folder, String version, Path programs) throws IOException {
        List<String> problems = new ArrayList<>();
        StringBuilder sums = new StringBuilder();
        Files.createDirectories(programs);
        for (Map.Entry<String, List<String>> program : PROGRAMS.entrySet()) {
            String artifact = program.getValue().get(0);
            Path file = home(folder, artifact, version)
                    .resolve(artifact + "-" + version + program.getValue().get(1));
            if (Files.isRegularFile(file)) {
                Files.copy(file, programs.resolve(program.getKey()), StandardCopyOption.REPLACE_EXISTING);
                sums.append(digest(file, "SHA-256"))
                        .append("  ")
                        .append(program.getKey())
                        .append('\n');
            } else {
                problems.add("no " + file.getFileName());
            }
        }
        Files.writeString(programs.resolve("SHA256SUMS"), sums);
        return problems;
    }

    private static Path home(Path folder, String artifact, String version) {
        return folder.resolve(Path.of("org", "brickprofiler", artifact, version));
    }

    private void artifact(String artifact) throws IOException {
        Path home = home(folder, artifact, version);
        for (String end : FILES) {
            Path file = home.resolve(artifact + "-" + version + end);
            if (!Files.isRegularFile(file)) {
                problems.add("no " + file.getFileName());
            } else if (end.equals(".pom")) {
                pom(file);
            }
        }
        for (Path file : files(home)) {
            checksums(file);
        }
    }

    private void pom(Path file) throws IOException {
        try {
            Document pom =
                    DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile());
            XPath path = XPathFactory.newInstance().newXPath();
            for (String field : FIELDS) {
                if (path.evaluate("/project/" + field, pom).isBlank()) {
                    problems.add(file.getFileName() + " has no " + field);
                }
            }
            if (Files.readString(file).contains("${")) {
                problems.add(file.getFileName() + " has an expression");
            }
            NodeList versions =
                    (NodeList) path.evaluate("/project/dependencies/dependency", pom, XPathConstants.NODESET);
            for (int i = 0; i < versions.getLength(); i++) {
                String dependency = path.evaluate("version", versions.item(i));
                if (dependency.isBlank() || dependency.endsWith("-SNAPSHOT")) {
                    problems.add(file.getFileName() + " depends on "
                            + path.evaluate("artifactId", versions.item(i))
                            + (dependency.isBlank() ? " of no version" : " " + dependency));
                }
            }
        } catch (SAXException | ParserConfigurationException | XPathExpressionException e) {
            problems.add(file.getFileName() + " is no POM: " + e.getMessage());
        }
    }

    private void checksums(Path file) throws IOException {
        String name = file.getFileName().toString();
        if (isAdded(name)) {
            return;
        }
        for (Map.Entry<String, String> checksum : CHECKSUMS.entrySet()) {
            Path sum = file.resolveSibling(name + checksum.getKey());
            if (!Files.isRegularFile(sum)) {
                problems.add("no " + sum.getFileName());
            } else if (!Files.readString(sum, US_ASCII).strip().equals(digest(file, checksum.getValue()))) {
                problems.add(sum.getFileName() + " is not that of its file");
            }
        }
    }

    private void signatures() throws IOException {
        for (Path file : files(folder)) {
            String name = file.getFileName().toString();
            if (name.endsWith(SIGNATURE) && !isSigned) {
                problems.add(name + " is of an earlier build: remove the folder");
            } else if (isSigned && !isAdded(name)) {
                Path signature = file.resolveSibling(name + SIGNATURE);
                if (!Files.isRegularFile(signature)) {
                    problems.add("no signature of " + name);
                } else if (!Files.readString(signature, US_ASCII).startsWith("-----BEGIN PGP SIGNATURE-----")) {
                    problems.add(signature.getFileName() + " is no signature");
                }
            }
        }
    }

    /** Returns whether a file was added for another one: a checksum or a signature. */
    private static boolean isAdded(String name) {
        return name.endsWith(SIGNATURE) || CHECKSUMS.keySet().stream().anyMatch(name::endsWith);
    }

    private static String digest(Path file, String algorithm) throws IOException {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance(algorithm).digest(Files.readAllBytes(file)));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every Java has " + algorithm, impossible);
        }
    }

    private static List<Path> files(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(Files::isRegularFile).sorted().toList();
        }
    }
}
