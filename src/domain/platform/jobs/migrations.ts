import { statements } from "../database/MigrationStatements.ts"
import { countedBy } from "../paging/migrations.ts"

/** The queue: jobs with leases, held keys, worker slots and scheduler ticks. */
export const migrations = {
  "0001_jobs": statements(
    // Every index contains the status, so no update is in-place (HOT): pages keep free space and are vacuumed early.
    `create table commerce_jobs (
      id uuid primary key,
      organization_id text not null,
      queue text not null default 'default',
      task_slug text not null,
      status text not null default 'pending' check (status in ('pending', 'processing', 'succeeded', 'failed')),
      input jsonb not null default '{}',
      output jsonb,
      error text,
      attempts int not null default 0 check (attempts >= 0),
      max_attempts int not null default 1 check (max_attempts >= 1),
      wait_until timestamptz,
      concurrency_key text,
      processing_started_at timestamptz,
      completed_at timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      -- Never at the same time as another job of its organization and key.
      exclusive boolean not null default false,
      -- Waits for its key; claims skip it until then.
      blocked boolean not null default false,
      -- Who works on it, under which token, and until when without a renewal.
      slot text,
      lease_token uuid,
      lease_until timestamptz,
      check ((status = 'processing') = (lease_token is not null))
    ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0)`,
    // Two indexes, so that a claim never walks jobs due tomorrow.
    `create index jobs_ready on commerce_jobs (queue, created_at, id)
      where status = 'pending' and wait_until is null and not blocked`,
    `create index jobs_due on commerce_jobs (queue, wait_until)
      where status = 'pending' and wait_until is not null and not blocked`,
    // For claims that rotate through the organizations.
    `create index jobs_by_organization on commerce_jobs (queue, organization_id, (coalesce(wait_until, created_at)))
      where status = 'pending' and not blocked`,
    `create index jobs_blocked on commerce_jobs (organization_id, concurrency_key, created_at, id)
      where status = 'pending' and blocked`,
    // Finds jobs to supersede.
    `create index jobs_exclusive on commerce_jobs (organization_id, concurrency_key, task_slug)
      where status = 'pending' and concurrency_key is not null`,
    `create index jobs_lease on commerce_jobs (lease_until) where status = 'processing'`,
    `create index jobs_failed on commerce_jobs (organization_id, completed_at desc, id desc) where status = 'failed'`,
    // The holder of the row holds the key.
    `create table job_keys (
      organization_id text not null,
      concurrency_key text not null,
      job_id uuid not null,
      primary key (organization_id, concurrency_key)
    )`,
    // The current run of each slot; 'open' before it begins.
    `create table worker_slots (
      queue text not null,
      slot int not null,
      sequence bigint not null,
      open boolean not null default true,
      -- Two workers must not run the same slot: the lease says which one does, and until when without a renewal.
      lease_token uuid,
      lease_until timestamptz,
      primary key (queue, slot)
    )`,
    `create table scheduler_ticks (
      task_slug text primary key,
      tick timestamptz not null
    )`
  ),
  "0002_counted": statements(
    ...countedBy({ table: "commerce_jobs", part: (row) => `case when ${row}.status = 'failed' then '' end`, few: true })
  )
}
