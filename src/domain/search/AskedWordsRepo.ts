/**
 * What a shopper's words ask for, one query per word. A word finds itself, words that begin with it (from two
 * characters on), and what it is stemmed to in the languages in which the organization writes. What is a stop word in
 * one of those is left out, unless nothing else was asked.
 */
const asked = `create function search_asked(organization text, q text) returns tsquery[] language plpgsql stable
    set enable_seqscan = off set enable_indexscan = on as $$
  declare
    configurations regconfig[];
    meant tsquery[] := '{}';
    stopped tsquery[] := '{}';
    word text;
    folded text;
    part tsquery;
    begins tsquery;
    stem tsquery;
    one regconfig;
    is_stop boolean;
  begin
    -- Locales one by one from the index: as many steps as the organization has locales, not as it has words.
    configurations := array(
      with recursive known(locale, place) as (
        (select a.locale, 1 from entity_attributes a where a.organization_id = organization
          order by a.locale limit 1)
        union all
        select (select a.locale from entity_attributes a where a.organization_id = organization
          and a.locale > known.locale order by a.locale limit 1), known.place + 1
        from known where known.locale is not null and known.place < 64)
      select distinct search_configuration(locale) from known where locale is not null);
    for word in select w from regexp_split_to_table(btrim(search_plain(q)), ' ') with ordinality as t(w, n)
      where w <> '' group by w order by min(n)
    loop
      folded := btrim(search_fold(word));
      part := plainto_tsquery('simple', folded);
      begins := null;
      if char_length(folded) > 1 and position(' ' in folded) = 0 then
        begins := ('''' || folded || ''':*')::tsquery;
        -- What begins with a word is the word itself too, which is not asked for twice.
        part := case when part::text = quote_literal(folded) then begins else part || begins end;
      end if;
      is_stop := false;
      foreach one in array configurations loop
        stem := plainto_tsquery(one, word);
        is_stop := is_stop or numnode(stem) = 0;
        continue when begins is not null and numnode(stem) = 1 and starts_with(stem::text, '''' || folded);
        part := part || stem;
      end loop;
      continue when numnode(part) = 0;
      if is_stop then stopped := stopped || part; else meant := meant || part; end if;
    end loop;
    return case when cardinality(meant) > 0 then meant else stopped end;
  end $$`

/**
 * Words that are one slip away from a word of four to seven letters: a letter too much, too little or wrong, or two in the
 * wrong order. Longer ones have enough trigrams in common with what was meant.
 */
const slips = `create function search_slips(word text) returns setof text language sql immutable as $$
  select distinct w from (
    select overlay(word placing substr(word, n + 1, 1) || substr(word, n, 1) from n for 2)
      from generate_series(1, char_length(word) - 1) n
    union all select overlay(word placing '' from n for 1) from generate_series(1, char_length(word)) n
    union all select overlay(word placing chr(c) from n for 1)
      from generate_series(1, char_length(word)) n, generate_series(97, 122) c
    union all select overlay(word placing chr(c) from n for 0)
      from generate_series(1, char_length(word) + 1) n, generate_series(97, 122) c) near(w)
  where char_length(word) between 4 and 7 and w <> word $$`

/**
 * The same with typing errors forgiven: each word that finds nothing also asks for its likes. They are taken from the words
 * that there are (`search_vocabulary`), which may be those of other people's drafts or of what is gone: so each of them is
 * looked for before it is asked for (`offset 0`: and not every word before it is compared). Only the index of words may say whether there is a word: the planner does not know how
 * rare it is and would walk another index and look at the words of every row, which takes a thousand times as long.
 */
const alike = `create function search_alike(organization text, q text, public_only boolean) returns tsquery[]
    language plpgsql stable set enable_seqscan = off
    set enable_indexscan = off set enable_indexonlyscan = off set pg_trgm.word_similarity_threshold = 0.4 as $$
  declare
    found tsquery[] := '{}';
    typed text;
    part tsquery;
    likes tsquery;
  begin
    for typed in select w from regexp_split_to_table(btrim(search_fold(q)), ' ') with ordinality as t(w, n)
      where w <> '' group by w order by min(n) limit 16
    loop
      foreach part in array search_asked(organization, typed) loop
        if char_length(typed) > 2 and not search_has(organization, part, public_only) then
          -- One slip leaves too few trigrams of a short word: the words from which it comes by one are asked for by name.
          select string_agg(quote_literal(near.w), ' | ')::tsquery into likes from (
            select distinct v.word as w from search_slips(typed) slip(w)
              join search_vocabulary v on v.organization_id = organization and v.word = slip.w offset 0) near
            where search_has(organization, quote_literal(near.w)::tsquery, public_only);
          part := part || coalesce(likes, '');
          select string_agg(quote_literal(near.w), ' | ')::tsquery into likes from (
            select like_it.w from (select v.word as w from search_vocabulary v
                where v.organization_id = organization and v.is_name and (typed <% v.word or v.word like '%' || typed || '%')
                group by v.word order by strpos(v.word, typed) > 0 desc, similarity(typed, v.word) desc, v.word limit 100) like_it
              where search_has(organization, quote_literal(like_it.w)::tsquery, public_only) limit 8) near;
          part := part || coalesce(likes, '');
        end if;
        found := found || part;
      end loop;
    end loop;
    return found;
  end $$`

/** Whether anything that the asking one may see has this. */
const has = `create function search_has(organization text, part tsquery, public_only boolean) returns boolean
    language plpgsql stable set enable_seqscan = off set enable_indexscan = off set enable_indexonlyscan = off as $$
  begin
    return exists (select 1 from search_words d
      where d.words @@ search_meant(organization, case when public_only then part else search_with_drafts(part) end)
        and d.organization_id = organization and (d.is_public or not public_only));
  end $$`

/** All words together: what a document must have, as it is or as a draft. Null where nothing was asked that could be found. */
const whole =
  `create function search_whole(parts tsquery[], without_drafts boolean) returns tsquery language plpgsql immutable as $$
  declare
    together tsquery;
    part tsquery;
  begin
    for i in 1 .. coalesce(cardinality(parts), 0) loop
      part := case when without_drafts then parts[i] else search_with_drafts(parts[i]) end;
      together := case when together is null then part else together && part end;
    end loop;
    return together;
  end $$`

/** Something asked for with `before` in front of each word. */
const prefixed = (before: string) =>
  `regexp_replace(part::text, '''((?:[^''\\\\]|''''|\\\\\\\\)+)''', '''' || ${before} || '\\1''', 'g')::tsquery`

/** The words of a title, as they stand in the index. */
const titled = `create function search_titled(part tsquery) returns tsquery language sql immutable as $$
  select ${prefixed("'='")} $$`

/** A word, also where it waits for approval. */
const withDrafts = `create function search_with_drafts(part tsquery) returns tsquery language sql immutable as $$
  select part || ${prefixed("'~'")} $$`

/** Words of an organization, as they stand in the index. */
const meant =
  `create function search_meant(organization text, part tsquery) returns tsquery language sql immutable as $$
  select ${prefixed("search_owner(organization)")} $$`

/**
 * What was asked for, taken apart by how many of the words a title has, from all of them to none: every document that has
 * the words (`whole`) belongs to one of these classes, and whoever is in an earlier one comes first. Of more than `most` words only so
 * many are looked at. `with_many[n]` is what has n or more of the words seen so far in its title.
 */
const classes = `create function search_classes(parts tsquery[], whole tsquery, most int) returns tsquery[]
    language plpgsql immutable as $$
  declare
    looked_at int := least(most, coalesce(cardinality(parts), 0));
    with_many tsquery[] := '{}';
    former tsquery[];
    part tsquery;
    found tsquery[] := '{}';
  begin
    for i in 1 .. looked_at loop
      part := search_titled(parts[i]);
      former := with_many;
      for n in 1 .. i loop
        with_many[n] := case
          when i = 1 then part
          when n = 1 then former[1] || part
          when n = i then former[n - 1] && part
          else former[n] || (former[n - 1] && part) end;
      end loop;
    end loop;
    for n in reverse looked_at .. 0 loop
      found := found || case
        when looked_at = 0 then whole
        -- A word of the title is one of all words, so nothing else has to be asked for.
        when n = looked_at and looked_at = cardinality(parts) then with_many[n]
        when n = looked_at then whole && with_many[n]
        when n = 0 then whole && !!with_many[1]
        else whole && with_many[n] && !!with_many[n + 1] end;
    end loop;
    return found;
  end $$`

/** Functions that turn what was typed into questions to the index. */
export const askedWords: ReadonlyArray<string> = [asked, slips, meant, withDrafts, has, alike, whole, titled, classes]
