import { statements } from "../platform/database/MigrationStatements.ts"

export const migrations = {
  // The address is kept as a digest: rows outlive the profile, so that the store does not write again to an address that
  // declined.
  "0001_mail_choices": statements(
    `create table mail_choices (
      organization_id text not null references organizations,
      address_digest text not null,
      category text not null,
      id uuid not null default gen_random_uuid(),
      is_declined boolean not null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      primary key (organization_id, address_digest, category)
    )`
  )
}
