/**
 * What a shopper's words ask for, one query per word. A word finds itself, words that begin with it (from two
 * characters on), and what it is stemmed to in the languages in which the organization writes. What is a stop word in
 * one of those is left out, unless nothing else was asked.
 */
const asked =
  `create or replace function search_asked(organization text, q text) returns tsquery[] language plpgsql stable
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
 * The same with typing errors forgiven: each word that finds nothing also asks for its likes among the names. Only the index
 * of words may say whether there is a word: the planner does not know how rare it is and would walk another index and look
 * at the words of every row, which takes a thousand times as long.
 */
const alike = `create or replace function search_alike(organization text, q text, public_only boolean) returns tsquery[]
    language plpgsql stable set enable_seqscan = off
    set enable_indexscan = off set enable_indexonlyscan = off set pg_trgm.word_similarity_threshold = 0.4 as $$
  declare
    found tsquery[] := '{}';
    word text;
    part tsquery;
    likes tsquery;
  begin
    for word in select w from regexp_split_to_table(btrim(search_fold(q)), ' ') with ordinality as t(w, n)
      where w <> '' group by w order by min(n) limit 16
    loop
      foreach part in array search_asked(organization, word) loop
        if char_length(word) > 2 and not exists (select 1 from search_documents d
          where d.organization_id = organization and d.words @@ part and (d.is_public or not public_only)) then
          -- One slip leaves too few trigrams of a short word: the words from which it comes by one are asked for by name.
          select string_agg(quote_literal(near.w), ' | ')::tsquery into likes from search_slips(word) near(w)
            where exists (select 1 from search_documents d where d.organization_id = organization
              and d.words @@ quote_literal(near.w)::tsquery and (d.is_public or not public_only));
          part := part || coalesce(likes, '');
          select string_agg(quote_literal(near.w), ' | ')::tsquery into likes from (
            select w from (select names from search_documents d where d.organization_id = organization
                and (word <% d.names or (d.names like '%' || word || '%'))
                and (d.is_public or not public_only) limit 500) d,
              regexp_split_to_table(d.names, ' +') w
            where w <> '' and (strpos(w, word) > 0 or word_similarity(word, w) >= 0.4)
            group by w order by bool_or(strpos(w, word) > 0) desc, similarity(word, w) desc, w limit 8) near;
          part := part || coalesce(likes, '');
        end if;
        found := found || part;
      end loop;
    end loop;
    return found;
  end $$`

/** All words together: what a document must have. Null where nothing was asked that could be found. */
const whole = `create function search_whole(parts tsquery[]) returns tsquery language plpgsql immutable as $$
  declare together tsquery;
  begin
    for i in 1 .. coalesce(cardinality(parts), 0) loop
      together := case when together is null then parts[i] else together && parts[i] end;
    end loop;
    return together;
  end $$`

/** The index by which the languages of an organization are found. */
const locales = "create index entity_attributes_locale on entity_attributes (organization_id, locale)"

/** Both as they are now, for databases that have had them for longer. */
export const askedOnce: ReadonlyArray<string> = [asked, alike]

/** Functions that turn what was typed into questions to the index. */
export const askedWords: ReadonlyArray<string> = [locales, asked, slips, alike, whole]
