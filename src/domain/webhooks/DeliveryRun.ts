/** One run of the task `webhooks/deliver`. */
export interface DeliveryRun {
  readonly endpointId: string
  readonly eventId: string
  /** Sent again by hand: whatever became of it before, and without waiting for its turn. */
  readonly redelivery: boolean
  /** How often this run was put off because all places at its endpoint were taken. */
  readonly postponed: number
  readonly attemptNumber: number
  readonly maxAttempts: number
}
