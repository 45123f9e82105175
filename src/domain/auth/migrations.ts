import { statements } from "../platform/database/MigrationStatements.ts"
import { countedBy } from "../platform/paging/migrations.ts"

/** Notifies every process that cached credentials are out of date; `CacheInvalidation.ts` lists the payloads (`listen auth_changed`). */
const notify = (name: string, payload: string) =>
  `create function ${name}() returns trigger language plpgsql as $$
  begin
    perform pg_notify('auth_changed', ${payload});
    return null;
  end $$`

const sessionKey = "'s' || old.token"

/**
 * Users, credentials, memberships and API keys (contract, platform §3, §4 and §6). better-auth writes these tables
 * through `layers/auth/AuthAdapter.ts`; comments name the columns that it does not have.
 */
export const migrations = {
  "0001_auth": statements(
    `create table users (
      id uuid primary key default gen_random_uuid(),
      name text not null,
      -- Lower case, as every look-up of it is.
      email text not null unique,
      email_verified boolean not null default false,
      image text,
      two_factor_enabled boolean default false,
      -- The vendor that the user acts for, and the hash of a PIN at a point of sale; set by plugins, never by the user.
      vendor_id text,
      pos_operator_pin text,
      vendor_role text,
      -- SHA-256 of a secret that the browser of the sign-up keeps, until the address is verified.
      sign_up_browser text,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`,
    `create table sessions (
      id uuid primary key default gen_random_uuid(),
      token text not null unique,
      user_id uuid not null references users on delete cascade,
      expires_at timestamptz not null,
      ip_address text,
      user_agent text,
      active_organization_id text references organizations on delete set null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`,
    `create index sessions_user on sessions (user_id)`,
    `create index sessions_age on sessions (expires_at)`,
    `create table user_accounts (
      id uuid primary key default gen_random_uuid(),
      account_id text not null,
      provider_id text not null,
      user_id uuid not null references users on delete cascade,
      access_token text,
      refresh_token text,
      id_token text,
      access_token_expires_at timestamptz,
      refresh_token_expires_at timestamptz,
      scope text,
      password text,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      unique (provider_id, account_id)
    )`,
    `create index user_accounts_user on user_accounts (user_id)`,
    `create table verifications (
      id uuid primary key default gen_random_uuid(),
      identifier text not null,
      value text not null,
      expires_at timestamptz not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`,
    `create index verifications_identifier on verifications (identifier)`,
    `create index verifications_age on verifications (expires_at)`,
    `create table two_factors (
      id uuid primary key default gen_random_uuid(),
      -- Both encrypted under the secret of the deployment.
      secret text not null,
      backup_codes text not null,
      user_id uuid not null references users on delete cascade,
      verified boolean default true,
      failed_verification_count int default 0,
      locked_until timestamptz,
      -- The period (30 seconds each since 1970) of the last accepted authenticator code: no code is accepted twice.
      last_period int
    )`,
    `create index two_factors_user on two_factors (user_id)`,
    `create index two_factors_secret on two_factors (secret)`,
    `create table members (
      id uuid primary key default gen_random_uuid(),
      organization_id text not null references organizations on delete cascade,
      user_id uuid not null references users on delete cascade,
      role text not null default 'customer',
      created_at timestamptz not null default now(),
      unique (organization_id, user_id)
    )`,
    `create index members_user on members (user_id)`,
    `create table invitations (
      id uuid primary key default gen_random_uuid(),
      organization_id text not null references organizations on delete cascade,
      email text not null,
      role text,
      status text not null default 'pending',
      expires_at timestamptz not null,
      inviter_id uuid not null references users on delete cascade,
      created_at timestamptz not null default now()
    )`,
    `create index invitations_organization on invitations (organization_id)`,
    `create index invitations_email on invitations (email)`,
    `create table api_keys (
      id uuid primary key default gen_random_uuid(),
      config_id text not null default 'default',
      name text,
      start text,
      prefix text,
      -- SHA-256 of the whole key, base64url without padding.
      key text not null unique,
      -- Owning user, or organization where the scope says so.
      reference_id text not null,
      -- Not better-auth's: the organization the key acts in, and the role whose permissions it has at the time of use.
      organization_id text references organizations on delete cascade,
      role text,
      enabled boolean default true,
      expires_at timestamptz,
      remaining int,
      refill_amount int,
      refill_interval bigint,
      last_refill_at timestamptz,
      rate_limit_enabled boolean default false,
      rate_limit_time_window bigint,
      rate_limit_max int,
      request_count int default 0,
      last_request timestamptz,
      -- JSON of module to actions: without a role what the key may do, with one what it is narrowed to.
      permissions text,
      metadata text,
      -- Whether the session that created a user's key had passed a second factor.
      second_factor boolean not null default false,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`,
    `create index api_keys_reference on api_keys (reference_id)`,
    `create index api_keys_config on api_keys (config_id)`,
    `create index api_keys_organization on api_keys (organization_id, created_at desc)`,
    notify("notify_session", sessionKey),
    `create trigger sessions_updated after update on sessions for each row execute function notify_session()`,
    // Expired rows had no effect any more: their removal sends no notification.
    `create trigger sessions_deleted after delete on sessions for each row when (old.expires_at > now())
      execute function notify_session()`,
    notify("notify_api_key", "'k' || old.key"),
    // Counting uses does not change the permissions of a key.
    `create trigger api_keys_updated after update on api_keys for each row when (
        (old.key, old.reference_id, old.organization_id, old.role, old.enabled, old.expires_at, old.permissions,
          old.metadata, old.config_id, old.name)
        is distinct from
        (new.key, new.reference_id, new.organization_id, new.role, new.enabled, new.expires_at, new.permissions,
          new.metadata, new.config_id, new.name))
      execute function notify_api_key()`,
    `create trigger api_keys_deleted after delete on api_keys for each row execute function notify_api_key()`,
    notify("notify_user", "'u' || old.id"),
    `create trigger users_changed after update or delete on users for each row execute function notify_user()`,
    notify("notify_member", "'u' || case when tg_op = 'INSERT' then new.user_id else old.user_id end"),
    `create trigger members_changed after insert or update or delete on members for each row
      execute function notify_member()`,
    notify("notify_organization", "'o' || case when tg_op = 'INSERT' then new.id else old.id end"),
    `create trigger organizations_changed after insert or update or delete on organizations for each row
      execute function notify_organization()`
  ),
  // Joined by other modules: columns keep name and meaning.
  "0002_read_views": statements(
    `create view users_read as
      select id, name, email, email_verified
      from users`
  ),
  "0003_counted": statements(
    "create index members_listed on members (organization_id, created_at, id)",
    ...countedBy({ table: "members" }),
    ...countedBy({ table: "api_keys" })
  )
}
