import type { NewJob } from "../jobs/Jobs.ts"

/** Slug of the task that delivers (spec §2), and its queue (contract, platform §9.3). */
export const deliverTaskSlug = "webhooks/deliver"
export const webhookQueue = "webhooks"

/** An event that an endpoint still has to receive. */
export interface Dispatch {
  readonly organizationId: string
  readonly endpointId: string
  readonly eventId: string
  readonly entityType: string
  readonly entityId: string
}

/** The job of a dispatch. It holds ids only; the records are read when it runs. */
export const deliveryJob = ({ organizationId, ...input }: Dispatch): NewJob => ({
  task: deliverTaskSlug,
  input,
  options: { organizationId, queue: webhookQueue }
})
