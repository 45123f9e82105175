/** One run of the task `webhooks/deliver`. */
export interface DeliveryRun {
  readonly endpointId: string
  readonly eventId: string
  /** Sent again by hand: ignores earlier results and the order of events. */
  readonly redelivery: boolean
  /** How often this run was postponed because all slots of its endpoint were occupied. */
  readonly postponed: number
  readonly attemptNumber: number
  readonly maxAttempts: number
}
