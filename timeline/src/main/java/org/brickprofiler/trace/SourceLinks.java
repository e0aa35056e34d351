package org.brickprofiler.trace;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.report.PagePart;
import org.brickprofiler.trace.CallTree.Node;
import org.brickprofiler.trace.CallTree.Share;
import org.jspecify.annotations.Nullable;

/**
 * Links from the lines of bricks in a page to the sources of their classes. A flight recording does not state the files
 * of methods: the source of a class is the file {@code .java} of its outermost class in the folder of the package. The
 * JDK's classes have no links. Immutable; any thread.
 */
public final class SourceLinks {

    private final List<Root> roots;

    private SourceLinks(List<Root> roots) {
        this.roots = roots;
    }

    /**
     * A place under which the folders of packages are.
     *
     * @param folder the folder whose files have links; null if all classes have one
     * @param address the beginning of links, with a slash at its end
     */
    private record Root(@Nullable Path folder, String address) {

        static Root of(String text) {
            if (isAddress(text)) {
                return new Root(null, address(text, text));
            }
            int address = Stream.of("=http://", "=https://")
                    .mapToInt(text::indexOf)
                    .filter(index -> index > 0)
                    .min()
                    .orElse(-1);
            if (address > 0) {
                return new Root(folder(text.substring(0, address), text), address(text.substring(address + 1), text));
            }
            Path folder = folder(text, text);
            return new Root(folder, folder.toUri().toString());
        }

        private static boolean isAddress(String text) {
            return text.startsWith("http://") || text.startsWith("https://");
        }

        private static Path folder(String path, String root) {
            try {
                Path folder = Path.of(path).toAbsolutePath().normalize();
                if (Files.isDirectory(folder)) {
                    return folder;
                }
            } catch (InvalidPathException e) {
                throw new IllegalArgumentException("source root " + root + ": " + e.getMessage(), e);
            }
            throw new IllegalArgumentException("source root " + root + ": " + path
                    + " is neither a folder nor an address that begins with http:// or https://");
        }

        private static String address(String address, String root) {
            try {
                URI parsed = new URI(address);
                if (parsed.getRawUserInfo() != null) {
                    // The message does not repeat the password.
                    throw new IllegalArgumentException("source root with a user name for " + parsed.getHost()
                            + ": everybody who opens the page could read it");
                }
                if (parsed.getHost() != null && parsed.getRawQuery() == null && parsed.getRawFragment() == null) {
                    return address.endsWith("/") ? address : address + "/";
                }
            } catch (URISyntaxException e) {
                throw new IllegalArgumentException("source root " + root + ": " + e.getMessage(), e);
            }
            throw new IllegalArgumentException(
                    "source root " + root + ": the address of a folder has a host, and neither ? nor #");
        }

        boolean has(String type) {
            return folder == null || Files.isRegularFile(folder.resolve(type.replace('.', '/') + ".java"));
        }
    }

    /**
     * Makes links to sources under some roots. For each class the first root counts that has its source.
     *
     * @param roots each a folder such as {@code src/main/java}; an address such as
     *     {@code https://github.com/acme/engine/blob/main/src/main/java}, which is taken to have all classes except for
     *     the JDK's; or {@code FOLDER=ADDRESS}, for links to the address of the files that the folder has
     * @return the links
     * @throws IllegalArgumentException when a root is no folder, or an address with a user name, a query or a fragment;
     *     the message names the root
     */
    public static SourceLinks to(List<String> roots) {
        return new SourceLinks(Objects.requireNonNull(roots, "roots").stream()
                .map(root -> Root.of(Objects.requireNonNull(root, "root")))
                .toList());
    }

    /**
     * Returns the part of a page that makes lines into links, and states how many classes have no source.
     *
     * @param lines the lines that the page shows
     * @return a part for {@link org.brickprofiler.report.HtmlReport#with(PagePart)}
     */
    public PagePart part(LineProfile lines) {
        Objects.requireNonNull(lines, "lines");
        List<String> types = new ArrayList<>();
        List<Integer> rootOf = new ArrayList<>();
        int missing = 0;
        for (String type : types(lines)) {
            OptionalInt root = root(type);
            if (root.isPresent()) {
                types.add(type);
                rootOf.add(root.getAsInt());
            } else {
                missing++;
            }
        }
        String text = "Lines lead to the sources of " + Plural.of(types.size(), "class", "classes") + "."
                + (missing == 0
                        ? ""
                        : " No root has the source of " + Plural.of(missing, "other class", "other classes") + ".");
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("roots", roots.stream().map(Root::address).toList());
        values.put("classes", types);
        values.put("root", rootOf);
        values.put("text", text);
        return PagePart.element("sources", JsonTable.write(values));
    }

    private OptionalInt root(String type) {
        for (int i = 0; i < roots.size(); i++) {
            if (roots.get(i).has(type)) {
                return OptionalInt.of(i);
            }
        }
        return OptionalInt.empty();
    }

    /** Returns the outermost classes of the lines that a report has. */
    private static Set<String> types(LineProfile lines) {
        Set<String> types = new TreeSet<>();
        LineProfile.fromJson(lines.toJson()).bricks().stream()
                .flatMap(brick -> Stream.of(brick.java(), brick.natives()))
                .flatMap(tree -> Stream.concat(
                        tree.nodes().stream().map(Node::frame),
                        tree.hottest().lines().stream().map(Share::place)))
                .filter(frame -> frame.line() != Frame.NO_LINE && !frame.isOfJdk())
                .forEach(frame -> outermost(frame.method()).ifPresent(types::add));
        return types;
    }

    /** Returns the outermost class of a method, if its name is one that a source can have. */
    private static Optional<String> outermost(String method) {
        String type = method.substring(0, Math.max(0, method.lastIndexOf('.')));
        int inner = type.indexOf('$');
        String outer = inner < 0 ? type : type.substring(0, inner);
        boolean isName = Stream.of(outer.split("\\.", -1))
                .allMatch(part -> !part.isEmpty() && part.chars().allMatch(Character::isJavaIdentifierPart));
        return isName ? Optional.of(outer) : Optional.empty();
    }
}
