package org.brickprofiler.internal.record;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.brickprofiler.internal.base.Log;

/**
 * Returns the keys of bricks of a category. A brick that already has another category keeps it, and a warning is logged
 * once for the brick. Any thread.
 */
public final class BrickKeys {

    private final NameTable names;
    private final List<String> categories;
    private final Class<?> logger;
    private final Set<Integer> warned = ConcurrentHashMap.newKeySet();

    /**
     * Creates the keys of a table.
     *
     * @param names the table; its tags are indexes of the categories
     * @param categories the names of the categories
     * @param logger the class whose logger receives the warnings
     */
    public BrickKeys(NameTable names, List<String> categories, Class<?> logger) {
        this.names = names;
        this.categories = categories;
        this.logger = logger;
    }

    /**
     * Returns the key of a name, an alias or a spelling; a new name becomes a brick of the category.
     *
     * @param name any name; not checked
     * @param category the index of the category
     * @return its key
     */
    public int keyOf(String name, int category) {
        int key = names.keyOf(name, category);
        warnIfOther(key, name, category);
        return key;
    }

    /**
     * Returns the key of the brick that has exactly this name, even if the name is an alias or a spelling.
     *
     * @param name any name; not checked
     * @param category the index of the category of a new brick
     * @return its key
     * @throws IllegalArgumentException when it is the display name of a known brick
     */
    public int ownKeyOf(String name, int category) {
        if (names.isFixed(name)) {
            throw new IllegalArgumentException(
                    "'" + name + "' is the display name of a known brick: reports could not distinguish a"
                            + " brick of that name from it, so choose another name");
        }
        int key = names.ownKeyOf(name, category);
        warnIfOther(key, name, category);
        return key;
    }

    private void warnIfOther(int key, String name, int wanted) {
        int kept = names.tag(key);
        if (kept != wanted && warned.add(key)) {
            Log.of(logger)
                    .warn(
                            "'{}' is the brick {} of category {}, so the category {} is not used; ownBrickKey makes a brick of"
                                    + " its own of an alias",
                            name,
                            names.name(key),
                            categories.get(kept),
                            categories.get(wanted));
        }
    }
}
