/**
 * One query term per word. A word matches itself, words that begin with it (from two characters on), and its stems in
 * the organization's languages. Stop words count only if there are no other words.
 */
const terms = `create function search_terms(organization text, q text) returns tsquery[] language plpgsql stable
    set enable_seqscan = off as $$
  declare
    configurations regconfig[];
    terms tsquery[] := '{}';
    stop_words tsquery[] := '{}';
    word text;
    plain text;
    term tsquery;
    prefix tsquery;
    stem tsquery;
    configuration regconfig;
    is_stop_word boolean;
  begin
    configurations := array(
      with recursive locales(locale, n) as (
        (select a.locale, 1 from entity_attributes_read a where a.organization_id = organization order by a.locale limit 1)
        union all
        select (select a.locale from entity_attributes_read a where a.organization_id = organization
          and a.locale > l.locale order by a.locale limit 1), l.n + 1
        from locales l where l.locale is not null and l.n < 64)
      select distinct search_configuration(locale) from locales where locale is not null);
    for word in select w from regexp_split_to_table(btrim(search_plain(q)), ' ') with ordinality as t(w, n)
      where w <> '' group by w order by min(n)
    loop
      plain := btrim(search_normalize(word));
      term := plainto_tsquery('simple', plain);
      prefix := null;
      if char_length(plain) > 1 and position(' ' in plain) = 0 then
        prefix := ('''' || plain || ''':*')::tsquery;
        -- The prefix finds the word itself, and below also stems that begin with it.
        term := case when term::text = quote_literal(plain) then prefix else term || prefix end;
      end if;
      is_stop_word := false;
      foreach configuration in array configurations loop
        stem := plainto_tsquery(configuration, word);
        is_stop_word := is_stop_word or numnode(stem) = 0;
        continue when prefix is not null and numnode(stem) = 1 and starts_with(stem::text, '''' || plain);
        term := term || stem;
      end loop;
      continue when numnode(term) = 0;
      if is_stop_word then stop_words := stop_words || term; else terms := terms || term; end if;
    end loop;
    return case when cardinality(terms) > 0 then terms else stop_words end;
  end $$`

const slips = `create function search_slips(word text) returns setof text language sql immutable as $$
  select distinct w from (
    select overlay(word, substr(word, n + 1, 1) || substr(word, n, 1), n, 2)
      from generate_series(1, char_length(word) - 1) n
    union all select overlay(word, '', n, 1) from generate_series(1, char_length(word)) n
    union all select overlay(word, chr(c), n, length)
      from generate_series(1, char_length(word) + 1) n, generate_series(97, 122) c, generate_series(0, 1) length) near(w)
  where char_length(word) between 4 and 7 and w <> word $$`

/** Finds a visible document with the term. Only the index of words may answer: any other reads every row. */
const has = `create function search_has(organization text, term tsquery, public_only boolean) returns boolean
    language plpgsql stable set enable_seqscan = off set enable_indexscan = off as $$
  begin
    return exists (select 1 from search_documents d
        where d.organization_id = organization and d.words @@ term and (d.is_public or not public_only))
      or not public_only and exists (select 1 from search_documents d
        where d.organization_id = organization and d.staff_words @@ term);
  end $$`

/**
 * Tolerates typing errors: a word without hits matches similar words of the vocabulary. Those may come from drafts, so
 * each is checked for hits first. Short words share too few trigrams: they are compared by single edits.
 */
const similar = `create function search_similar_terms(organization text, q text, public_only boolean) returns tsquery[]
    language plpgsql stable set enable_seqscan = off set enable_indexscan = off set enable_indexonlyscan = off
    set pg_trgm.word_similarity_threshold = 0.4 as $$
  declare
    terms tsquery[] := '{}';
    typed text;
    term tsquery;
    similar_words text;
  begin
    for typed in select w from regexp_split_to_table(btrim(search_normalize(q)), ' ') with ordinality as t(w, n)
      where w <> '' group by w order by min(n) limit 16
    loop
      foreach term in array search_terms(organization, typed) loop
        if char_length(typed) > 2 and not search_has(organization, term, public_only) then
          select string_agg(quote_literal(w), ' | ') into similar_words from (
            select slip.w from (select distinct v.word as w from search_slips(typed) s(w)
                join search_vocabulary v on v.organization_id = organization and v.word = s.w offset 0) slip
              where search_has(organization, quote_literal(slip.w)::tsquery, public_only)
            union
            (select near.w from (select v.word as w from search_vocabulary v
                where v.organization_id = organization and v.is_name and (typed <% v.word or v.word like '%' || typed || '%')
                group by v.word order by strpos(v.word, typed) > 0 desc, similarity(typed, v.word) desc, v.word limit 100) near
              where search_has(organization, quote_literal(near.w)::tsquery, public_only) limit 8)) found;
          term := term || coalesce(similar_words, '')::tsquery;
        end if;
        terms := terms || term;
      end loop;
    end loop;
    return terms;
  end $$`

export const queryTerms: ReadonlyArray<string> = [terms, slips, has, similar]
