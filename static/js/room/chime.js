// Two soft tones, made here and not loaded. Browsers play them only in a page on which something was pressed.

export class Chime {
  // Called by a press: gets the leave to sound later.
  allow() {
    const Context = window.AudioContext ?? window.webkitAudioContext;
    if (!Context) return;
    this.context ??= new Context();
    this.context.resume();
  }

  sound() {
    if (!this.context) return;
    const now = this.context.currentTime;
    for (const [pitch, after] of [[523.25, 0], [783.99, 0.18]]) {
      const tone = this.context.createOscillator();
      const loudness = this.context.createGain();
      tone.frequency.value = pitch;
      loudness.gain.setValueAtTime(0, now + after);
      loudness.gain.linearRampToValueAtTime(0.2, now + after + 0.02);
      loudness.gain.exponentialRampToValueAtTime(0.001, now + after + 0.5);
      tone.connect(loudness).connect(this.context.destination);
      tone.start(now + after);
      tone.stop(now + after + 0.5);
    }
  }
}
