package org.brickprofiler.internal.record;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.ToIntFunction;
import org.brickprofiler.internal.base.Log;
import org.jspecify.annotations.Nullable;

/**
 * Names and their keys, dense ints from 0. Names are never removed. Their number is bounded; all names beyond the bound
 * share one key. Every method may be called from any thread and none waits for another.
 *
 * <h2>Why names and keys correspond one to one:</h2>
 *
 * The entry at index <i>k</i> is set once, by compare-and-set. {@code size} passes <i>k</i> only after that entry is in
 * the map; a thread that finds an entry at {@code size} first adds the entry to the map. If a thread reads {@code size}
 * and then does not find its name in the map, the name has either no key or one at or above that size. The thread
 * therefore searches upwards from that size, and finds either its name or the first free place.
 */
public final class NameTable {

    /** The common name of all names past a table's bound. */
    public static final String OTHER_NAMES = "(other names)";

    /** In place of a key: the name has none. */
    public static final int NONE = -1;

    private static final VarHandle SIZE;

    static {
        try {
            SIZE = MethodHandles.lookup().findVarHandle(NameTable.class, "size", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** A map of the JDK: opening a jar with signed classes would delay the first profiler. */
    private final ConcurrentHashMap<String, Entry> byName = new ConcurrentHashMap<>(256);

    private final AtomicReferenceArray<Entry> byKey;

    /**
     * The tags of the keys below {@code size}, in few cache lines; the thread that advances {@code size} past a key has
     * written the key's tag.
     */
    private final byte[] tags = new byte[TimerToken.MAX_KEY + 1];

    private volatile int size;
    private final @Nullable ToIntFunction<String> spellings;
    private final Entry overflow;
    private final AtomicBoolean overflowLogged = new AtomicBoolean();

    private record Entry(int key, String name, byte tag) {
        Entry(int key, String name, int tag) {
            this(key, name, (byte) tag);
            if (this.tag != tag) {
                throw new IllegalArgumentException("tag " + tag + " of '" + name + "' is not in a byte");
            }
        }
    }

    /**
     * Creates a table without fixed names.
     *
     * @param overflowName the name of key 0, shared by all names past the bound
     * @param overflowTag the tag of that key
     */
    public NameTable(String overflowName, int overflowTag) {
        this(new String[0], new int[0], overflowName, overflowTag, null);
    }

    /**
     * Creates a table with some fixed names, which may have other spellings, too.
     *
     * @param fixedNames the names of the keys from 0
     * @param fixedTags the tags of those keys
     * @param overflowName the name of the next key, shared by all names past the bound
     * @param overflowTag the tag of that key
     * @param spellings returns the fixed key that a name is a spelling of, or {@link #NONE}. It is called for names
     *     that are not in the table, and should allocate nothing. Null if there are no other spellings
     */
    public NameTable(
            String[] fixedNames,
            int[] fixedTags,
            String overflowName,
            int overflowTag,
            @Nullable ToIntFunction<String> spellings) {
        this.spellings = spellings;
        byKey = new AtomicReferenceArray<>(TimerToken.MAX_KEY + 1);
        for (int key = 0; key < fixedNames.length; key++) {
            put(new Entry(key, fixedNames[key], fixedTags[key]));
        }
        overflow = new Entry(fixedNames.length, overflowName, overflowTag);
        put(overflow);
    }

    private void put(Entry entry) {
        byKey.set(entry.key, entry);
        byName.put(entry.name, entry);
        tags[entry.key] = entry.tag;
        size = entry.key + 1;
    }

    /**
     * Adds a second name for a fixed key. Only while the table is built, before other threads see it.
     *
     * @param alias another name
     * @param key its key
     */
    public void addAlias(String alias, int key) {
        byName.put(alias, byKey.get(key));
    }

    /**
     * Returns the key of a name. If the name has none, it gets a new key; only this allocates.
     *
     * @param name any name; not checked
     * @param tag the caller's tag of a new name; the first tag is kept
     * @return its key, or the shared key once the table is full
     */
    public int keyOf(String name, int tag) {
        int from = size;
        Entry known = byName.get(name);
        // A name that another thread is adding is in the map before the size passes its key. Until then the key is not
        // usable.
        if (known != null && known.key < from) {
            return known.key;
        }
        int spelled = spelled(name);
        return spelled != NONE ? spelled : add(name, tag, from);
    }

    /**
     * Returns the name's own key, never the key of which the name is an alias or a spelling. If the name has none, it
     * gets a new key. From then on the name means that key, even if it was an alias of another one.
     *
     * @param name any name except a fixed one; not checked
     * @param tag the caller's tag of a new name; the first tag is kept
     * @return its key, or the shared key once the table is full
     */
    public int ownKeyOf(String name, int tag) {
        int from = size;
        Entry known = byName.get(name);
        return known != null && known.key < from && known.name.equals(name) ? known.key : add(name, tag, from);
    }

    private int spelled(String name) {
        return spellings == null ? NONE : spellings.applyAsInt(name);
    }

    private int add(String name, int tag, int from) {
        for (int key = from; key < byKey.length(); key++) {
            Entry there = byKey.get(key);
            if (there == null) {
                Entry mine = new Entry(key, name, tag);
                there = byKey.compareAndSet(key, null, mine) ? mine : byKey.get(key);
            }
            Entry meant = byName.putIfAbsent(there.name, there);
            if (meant != null && !meant.name.equals(there.name)) {
                // An alias until now.
                byName.replace(there.name, meant, there);
            }
            tags[key] = there.tag;
            SIZE.compareAndSet(this, key, key + 1);
            if (there.name.equals(name)) {
                return there.key;
            }
        }
        if (overflowLogged.compareAndSet(false, true)) {
            Log.of(NameTable.class)
                    .warn(
                            "there is room for {} names beside the known ones: '{}' and every further new name are counted together"
                                    + " as '{}'",
                            byKey.length() - overflow.key - 1,
                            name,
                            overflow.name);
        }
        return overflow.key;
    }

    /**
     * Returns the key of a name, if it has one.
     *
     * @param name any name
     * @return its key, or {@link #NONE}
     */
    public int find(@Nullable String name) {
        if (name == null) {
            return NONE;
        }
        Entry known = byName.get(name);
        return known == null ? spelled(name) : known.key;
    }

    /**
     * Returns the number of keys in use: 0 to {@code size() - 1}.
     *
     * @return the number of keys
     */
    public int size() {
        return size;
    }

    /**
     * Returns the name of a key.
     *
     * @param key 0 to {@code size() - 1}
     * @return the first name it was given
     */
    public String name(int key) {
        return byKey.get(key).name;
    }

    /**
     * Returns the caller's tag of a key.
     *
     * @param key 0 to {@code size() - 1}
     * @return the tag given with its name
     */
    public int tag(int key) {
        return tags[key];
    }

    /**
     * Returns the live array of the tags of all keys, which saves callers the loads to reach it. The tag of a key is
     * written before anything is recorded with the key.
     *
     * @return the array itself, which only this class writes
     */
    public byte[] tags() {
        return tags;
    }

    /**
     * Returns whether a name is the fixed name of a key: no alias, no other spelling, and not added later.
     *
     * @param name any name
     * @return true for a fixed name, and for the common name of all names past the bound
     */
    public boolean isFixed(String name) {
        Entry known = byName.get(name);
        return known != null && known.key <= overflow.key && known.name.equals(name);
    }

    /**
     * Returns the names of this table for readers of spans.
     *
     * @param tagNames the names of the tags, which are indexes of this list
     * @return a view that includes names that are added later
     */
    public SpanSink.Names spanNames(List<String> tagNames) {
        return new SpanSink.Names() {
            @Override
            public int size() {
                return size;
            }

            @Override
            public String name(int key) {
                return NameTable.this.name(key);
            }

            @Override
            public String category(int key) {
                return tagNames.get(tag(key));
            }
        };
    }
}
