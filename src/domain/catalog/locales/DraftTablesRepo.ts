/**
 * Words that wait for approval: what they change of the approved ones, so that a draft is never a stale copy. What
 * everybody reads stays where it is, and no read of shoppers looks here.
 */
export const draftTables: ReadonlyArray<string> = [
  `create table entity_attribute_drafts (
    id uuid not null,
    organization_id text not null,
    entity_id uuid not null references catalog_entities on delete cascade,
    locale text not null,
    changes jsonb not null,
    proposed_by text,
    proposed_at timestamptz not null default now(),
    primary key (entity_id, locale)
  )`,
  `create index entity_attribute_drafts_queue on entity_attribute_drafts (organization_id, proposed_at, entity_id, locale)`
]
